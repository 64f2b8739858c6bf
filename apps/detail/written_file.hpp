#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gossamer::apps {

/// A file, a pipe or standard output that grows by whole pieces, each written at once.
class written_file {
public:
  /// @param file emptied if it is there; "-" is standard output @param flag that names it, for errors
  /// @error errc::io
  written_file(std::filesystem::path file, std::string flag);
  written_file(const written_file&) = delete;
  written_file& operator=(const written_file&) = delete;
  ~written_file();

  /// Waits while the reader of a pipe takes no more. Once that reader has gone, pieces are left out.
  /// @error errc::io, as on a full disk
  void write(std::string_view piece);

private:
  [[noreturn]] void refuse(int reason) const;

  std::filesystem::path path_;
  std::string flag_;
  int file_;
  bool has_reader_ = true;
};

} // namespace gossamer::apps
