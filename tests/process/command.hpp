#pragma once

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/subprocess.hpp"

namespace gossamer {

using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

inline words operator+(words first, const words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// A test of the built command, with a folder of its own.
class command : public testing::Test {
protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / ("gossamer-" + std::to_string(getpid()) + "-" + test->name());
    std::filesystem::create_directories(folder_);
    setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1); // state files of runs go to the test's folder
    unsetenv("GOSSAMER_TOKEN");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Returns `gossamer WORDS...`, to run in the test's folder.
  static words gossamer(const words& given) { return words{GOSSAMER_COMMAND} + given; }
  support::outcome run(const words& given) const { return execute(gossamer(given)); }
  /// Runs any command in the test's folder.
  support::outcome execute(const words& given) const {
    return support::subprocess(words{"env", "-C", folder_.string()} + given).finish();
  }

  /// A run that takes a fraction of a second.
  static inline const words small{"train", "--data", "digits:samples=600,test=200", "--epochs", "1"};

  std::string write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    EXPECT_TRUE(in) << "no " << name;
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  /// True once a run has a whole checkpoint. Its processes save it beside their steps, as fast as the disk is.
  bool has_checkpoint(const std::string& run) const {
    std::error_code none;
    std::filesystem::directory_iterator one{folder_ / run / "checkpoints", none}, end;
    for (; !none && one != end; one.increment(none))
      if (std::filesystem::exists(one->path() / "manifest"))
        return true;
    return false;
  }

  /// Returns the lines of a run's metrics.jsonl, all of which must be JSON.
  std::vector<json> metrics(const std::string& run = "run") const {
    std::vector<json> records;
    std::ifstream in(folder_ / run / "metrics.jsonl");
    for (std::string line; std::getline(in, line);) {
      records.push_back(json::parse(line, nullptr, false));
      EXPECT_FALSE(records.back().is_discarded()) << line;
    }
    return records;
  }

  std::filesystem::path folder_;
};

} // namespace gossamer
