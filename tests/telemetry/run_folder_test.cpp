#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include "support/full_disk.hpp"

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

TEST_F(run_folders, are_finished_whatever_their_events_are) {
  run_folder run{folder_ / "run", false};
  run.on_evaluation({});
  run.on_event({.time_s = 0, .kind = event_kind::loss, .what = "x"});
  EXPECT_EQ(run.finish({}), "");
  const auto picture = [&] {
    std::ifstream in{folder_ / "run" / "plot.svg"};
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  EXPECT_THAT(picture(), testing::HasSubstr("<title>0 s: x</title>"));
  std::ofstream{folder_ / "run" / "events.jsonl", std::ios::app} << "{\"ty{}\n";
  fs::remove(folder_ / "run" / "summary.json");
  run.finish({});
  EXPECT_THAT(picture(), testing::Not(testing::HasSubstr("<title>")));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "summary.json"));
}

TEST_F(run_folders, keep_the_result_when_the_disk_has_no_room_for_the_picture) {
  run_folder run{folder_ / "run", false};
  run.on_evaluation({});
  fs::create_directories(folder_ / "run" / "plot.svg" / "in the way");
  EXPECT_THROW(run.finish({}), error);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "summary.json"));
}

TEST_F(run_folders, that_were_moved_or_removed_get_the_result_and_say_what_is_missing) {
  for (const bool is_removed : {false, true}) {
    run_folder run{folder_ / "run", true};
    run.on_evaluation({});
    is_removed ? static_cast<void>(fs::remove_all(folder_ / "run"))
               : fs::rename(folder_ / "run", folder_ / "elsewhere");
    run.on_evaluation({});
    const auto said = run.finish({});
    EXPECT_THAT(said, testing::HasSubstr((folder_ / "run").string() + " was moved or removed while the run went on"));
    EXPECT_TRUE(fs::exists(folder_ / "run" / "summary.json"));
    EXPECT_FALSE(fs::exists(folder_ / "run" / "plot.svg"));
  }
}

TEST_F(run_folders, that_have_lost_their_evaluations_are_finished) {
  run_folder run{folder_ / "run", false};
  run.on_evaluation({});
  fs::remove(folder_ / "run" / "metrics.jsonl");
  EXPECT_THAT(run.finish({}),
              testing::AllOf(testing::StartsWith("there is no plot.svg: "), testing::HasSubstr("run/metrics.jsonl")));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "summary.json"));
}

TEST_F(run_folders, keep_lines_for_which_there_is_no_room_until_there_is) {
  run_folder run{folder_ / "run", false};
  const auto happens = [&run](int k) {
    run.on_evaluation({.step = static_cast<std::uint64_t>(k)});
    run.on_event({.time_s = 1.0 * k, .kind = event_kind::note, .what = "it happens"});
  };
  const auto expect = [this](std::size_t lines) {
    EXPECT_EQ(read_run(folder_ / "run").evaluations.size(), lines);
    EXPECT_EQ(read_events(folder_ / "run").size(), lines);
  };
  happens(0);
  {
    const test::full_disk disk{fs::file_size(folder_ / "run" / "events.jsonl") + 20}; // within a line
    happens(1);
    happens(2);
  }
  happens(3);
  expect(4);
  {
    const test::full_disk disk{1};
    happens(4);
    EXPECT_THAT([&run] { run.finish({}, ""); }, testing::ThrowsMessage<error>(testing::HasSubstr("metrics.jsonl")));
  }
  run.finish({});
  expect(5);
}

TEST_F(run_folders, have_an_end_when_too_many_lines_wait_for_room) {
  run_folder run{folder_ / "run", false};
  const test::full_disk disk{0};
  const auto write_on = [&run] {
    for (int k = 0; k < 10'000; ++k)
      run.on_event({.time_s = 1, .kind = event_kind::note, .what = "there is no room"});
  };
  EXPECT_THROW(write_on(), error);
}

// A new leader takes the folder over from a leader that was stopped, or killed while it wrote.
TEST_F(run_folders, are_taken_over_from_one_that_goes_on_writing) {
  const auto at = [](double time_s) { return evaluation_record{.time_s = time_s}; };
  run_folder before{folder_ / "run", false};
  before.on_evaluation(at(1));
  before.on_evaluation(at(2));
  std::ofstream{folder_ / "run" / "metrics.jsonl", std::ios::app} << "{\"step\":3,\"ep";
  auto after = run_folder::taken_over(folder_ / "run");
  before.on_evaluation(at(3));
  after.on_evaluation(at(4));
  before.on_evaluation(at(5));
  after.on_evaluation(at(6));
  std::vector<double> times;
  for (const auto& record : read_run(folder_ / "run").evaluations)
    times.push_back(record.time_s);
  EXPECT_THAT(times, testing::ElementsAre(1, 2, 4, 6));
}

TEST_F(run_folders, are_taken_back_with_all_that_another_one_has_written) {
  const auto happens = [](run_folder& run, double time_s) {
    run.on_evaluation({.time_s = time_s});
    run.on_event({.time_s = time_s, .kind = event_kind::note, .what = "it happens"});
  };
  run_folder first{folder_ / "run", false};
  happens(first, 1);
  {
    auto second = run_folder::taken_over(folder_ / "run");
    happens(second, 2);
    const test::full_disk disk{0};
    happens(first, 3); // does not know yet that it has a successor
  }
  first.take_back();
  happens(first, 4);
  first.finish({});
  std::vector<double> times, times_of_events;
  for (const auto& record : read_run(folder_ / "run").evaluations)
    times.push_back(record.time_s);
  for (const auto& event : read_events(folder_ / "run"))
    times_of_events.push_back(event.time_s);
  EXPECT_THAT(times, testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(times_of_events, testing::ElementsAre(1, 2, 4));
  EXPECT_THROW((run_folder{folder_ / "run", true}), error) << "it is locked still";
}

TEST_F(run_folders, keep_whole_lines_of_events_when_they_are_taken_over) {
  run_folder before{folder_ / "run", false};
  before.on_evaluation({});
  before.on_event({.time_s = 1, .kind = event_kind::loss, .what = "one"});
  std::ofstream{folder_ / "run" / "events.jsonl", std::ios::app} << "{\"type\":\"ev";
  auto after = run_folder::taken_over(folder_ / "run");
  before.on_event({.time_s = 2, .kind = event_kind::note, .what = "two"});
  after.on_event({.time_s = 3, .kind = event_kind::leader, .what = "three"});
  std::vector<std::string> said;
  for (const auto& event : read_events(folder_ / "run"))
    said.push_back(event.what);
  EXPECT_THAT(said, testing::ElementsAre("one", "three"));
}

TEST_F(run_folders, are_taken_over_from_one_that_has_not_written_an_evaluation) {
  const run_folder before{folder_ / "run", false};
  run_folder::taken_over(folder_ / "run").on_evaluation({.time_s = 1});
  EXPECT_EQ(read_run(folder_ / "run").evaluations.size(), 1u);
  EXPECT_THROW(run_folder::taken_over(folder_ / "nowhere"), error);
  std::ofstream{folder_ / "run" / "metrics.jsonl"} << "no record\n";
  EXPECT_THROW(run_folder::taken_over(folder_ / "run"), error);
  EXPECT_FALSE(fs::exists(folder_ / "run" / "metrics.jsonl.part"));
}

TEST_F(run_folders, have_one_writer_at_a_time_who_is_named_to_others) {
  const auto open = [this] { run_folder{folder_ / "run", true}; };
  {
    const run_folder first{folder_ / "run", false};
    try {
      open();
      FAIL() << "there are two";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.what(),
                  testing::AllOf(testing::StartsWith("process " + std::to_string(getpid()) + " on "),
                                 testing::HasSubstr((folder_ / "run").string()), testing::HasSubstr("--out")));
    }
    EXPECT_TRUE(fs::exists(folder_ / "run" / "metrics.jsonl")) << "the second one has removed it";
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "run.lock"));
  open();
}

TEST_F(run_folders, are_free_again_when_their_writer_is_killed) {
  const auto child = fork();
  if (child == 0) {
    const run_folder its{folder_ / "run", false};
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::exists(folder_ / "run" / "run.lock"));
  run_folder{folder_ / "run", true};
}

TEST_F(run_folders, leave_nothing_when_discarded) {
  run_folder folder{folder_ / "run", false};
  folder.write("config.toml", "seed = 1\n");
  EXPECT_TRUE(fs::exists(folder_ / "run" / "config.toml"));
  folder.discard();
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  run_folder{folder_ / "run", false}.discard();
  fs::create_directory(folder_ / "mine");
  run_folder{folder_ / "mine", false}.discard();
  EXPECT_TRUE(fs::is_empty(folder_ / "mine")) << "it was there before";
  run_folder::next_in(folder_, "next").discard();
  EXPECT_FALSE(fs::exists(folder_ / "001-next"));
}

TEST_F(run_folders, keep_what_a_discarded_run_was_to_replace) {
  const auto old = folder_ / "run";
  {
    run_folder run{old, false};
    run.write("summary.json", "old");
    fs::create_directories(old / "checkpoints" / "20");
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    run_folder next{old, true};
    next.write("config.toml", "new");
    next.discard();
    EXPECT_EQ(fs::file_size(old / "summary.json"), 3u);
    EXPECT_TRUE(fs::exists(old / "checkpoints" / "20"));
    EXPECT_FALSE(fs::exists(old / "config.toml"));
  }
  run_folder next{old, true};
  EXPECT_FALSE(fs::exists(old / "summary.json"));
  EXPECT_FALSE(fs::exists(old / "checkpoints")) << "the next run could go on from a checkpoint of another one";
  next.begin();
  for (const auto& entry : fs::directory_iterator{old})
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("metrics.jsonl", "events.jsonl", "run.lock"));
}

TEST_F(run_folders, hold_no_half_of_a_file_that_could_not_get_its_name) {
  run_folder run{folder_ / "run", false};
  fs::create_directories(run.path() / "faults.toml" / "of somebody");
  EXPECT_THROW(run.write("faults.toml", "seed = 1\n"), error);
  EXPECT_FALSE(fs::exists(run.path() / "faults.toml.part"));
}

TEST_F(run_folders, are_not_discarded_once_the_run_has_begun) {
  const std::map<std::string, std::function<void(run_folder&)>> beginnings{
      {"evaluated", [](run_folder& run) { run.on_evaluation({}); }},
      {"begun", [](run_folder& run) { run.begin(); }},
      {"saved", [](run_folder& run) { fs::create_directory(run.path() / "checkpoints"); }},
      {"taken over", [](run_folder& run) { run = run_folder::taken_over(run.path()); }}};
  for (const auto& [name, begin] : beginnings) {
    run_folder run{folder_ / name, false};
    begin(run);
    run.discard();
    EXPECT_TRUE(fs::exists(folder_ / name / "metrics.jsonl")) << name;
  }
  run_folder brought{folder_ / "brought", false};
  brought.bring({});
  brought.discard();
  EXPECT_FALSE(fs::exists(folder_ / "brought")) << "the evaluation is of another run";
}

} // namespace
} // namespace gossamer::actors
