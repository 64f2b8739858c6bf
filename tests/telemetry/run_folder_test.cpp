#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace gossamer::actors {
namespace {

namespace fs = std::filesystem;

class run_folders : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string next(const std::string& name) const { return run_folder::make_next(folder_, name).filename(); }

  fs::path folder_ = fs::path(testing::TempDir()) / ("gossamer-folders-" + std::to_string(getpid()));
};

TEST_F(run_folders, have_the_next_free_number) {
  EXPECT_EQ(next("a"), "001-a");
  EXPECT_EQ(next("b"), "002-b");
  fs::remove(folder_ / "001-a");
  EXPECT_EQ(next("c"), "001-c");
  for (const char* name : {"3-short", "003", "004-x", "notes", "1000-far"})
    fs::create_directory(folder_ / name);
  EXPECT_EQ(next("d"), "005-d") << "003 is being named by somebody";
}

TEST_F(run_folders, share_no_number_among_processes) {
  constexpr int processes = 8, each = 25;
  std::array<pid_t, processes> children{};
  for (int i = 0; i < processes; ++i) {
    children[static_cast<std::size_t>(i)] = fork();
    if (children[static_cast<std::size_t>(i)] == 0) {
      for (int k = 0; k < each; ++k)
        run_folder::make_next(folder_, "process" + std::to_string(i));
      _exit(0);
    }
  }
  for (const auto child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> numbers;
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator{folder_}) {
    numbers.insert(entry.path().filename().string().substr(0, 3));
    ++folders;
  }
  EXPECT_EQ(folders, processes * each);
  EXPECT_EQ(numbers.size(), folders);
}

TEST_F(run_folders, leave_nothing_when_discarded) {
  run_folder folder{folder_ / "run", false};
  folder.write("config.toml", "seed = 1\n");
  EXPECT_TRUE(fs::exists(folder_ / "run" / "config.toml"));
  folder.discard();
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  run_folder{folder_ / "run", false}.discard();
}

} // namespace
} // namespace gossamer::actors
