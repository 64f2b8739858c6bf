#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace gossamer::testing_support {

/// A file of hosts that is removed with the object.
class measured_file {
public:
  explicit measured_file(std::string_view text)
      : path_(testing::TempDir() + "gossamer_hosts_" + std::to_string(getpid()) + "_" + std::to_string(number_++)
              + ".toml") {
    std::ofstream{path_} << text;
  }
  measured_file(const measured_file&) = delete;
  measured_file& operator=(const measured_file&) = delete;
  ~measured_file() { std::remove(path_.c_str()); }

  /// Returns the spec of the network that the file describes.
  std::string spec() const { return "hosts:file=" + path_; }

private:
  static inline int number_ = 0;
  std::string path_;
};

/// Returns a table `[[link]]` of five lines.
inline std::string link_text(const std::string& from, const std::string& to, const std::string& latency,
                             const std::string& bandwidth) {
  return "[[link]]\nfrom = '" + from + "'\nto = '" + to + "'\nlatency = " + latency + "\nbandwidth = " + bandwidth
         + "\n";
}

} // namespace gossamer::testing_support
