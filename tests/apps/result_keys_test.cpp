#include "gossamer/apps/detail/result_keys.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/scratch_folder.hpp"

namespace gossamer::apps {
namespace {

using testing::StartsWith;

class a_result_key : public testing::Test {
protected:
  std::string key_of(const run_options& settings) const {
    return result_keys{known_}.key_of({"simulate", "--lr", "0.1"}, settings);
  }
  /// Expects another key exactly while the file has another content.
  void expect_dependence(const run_options& settings, const std::string& name) const {
    SCOPED_TRACE(name);
    folder_.write(name, "before");
    const auto before = key_of(settings);
    EXPECT_EQ(key_of(settings), before);
    folder_.write(name, "behind");
    EXPECT_NE(key_of(settings), before);
    folder_.write(name, "before");
    EXPECT_EQ(key_of(settings), before);
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  test::scratch_folder folder_;
  actors::tables known_;
};

TEST_F(a_result_key, begins_with_the_words_and_names_the_version) {
  EXPECT_THAT(key_of({}), StartsWith("simulate --lr 0.1 # gossamer "));
  EXPECT_THAT((result_keys{known_}.key_of({"train", "--out", "a b"}, {})), StartsWith("train --out 'a b' # "));
  EXPECT_THAT((result_keys{known_}.key_of({"train", "--faults", "\xff"}, {})), StartsWith("train --faults '\\xff' # "))
      << "keys are kept as JSON";
}

TEST_F(a_result_key, depends_on_settings_that_no_word_says) {
  run_options other;
  other.run.batch = 8; // as from a configuration
  EXPECT_NE(key_of(other), key_of({}));
}

TEST_F(a_result_key, depends_on_every_file_that_the_settings_name) {
  run_options o;
  o.faults = path("plan.toml");
  expect_dependence(o, "plan.toml");
  o = {};
  o.cost = path("costs.toml");
  expect_dependence(o, "costs.toml");
  for (const std::string network : {"hosts", "matrix"}) {
    o = {};
    o.world.network = network + ":file=" + path("links");
    expect_dependence(o, "links");
  }
  o = {};
  o.run.topology = "measured:file=" + path("hosts.toml");
  expect_dependence(o, "hosts.toml");
  o = {};
  o.run.initial = path("start.npz");
  expect_dependence(o, "start.npz");
  o = {};
  o.run.data = "csv:train=" + path("train.csv") + ",test=" + path("test.csv");
  expect_dependence(o, "train.csv");
  expect_dependence(o, "test.csv");
}

TEST_F(a_result_key, depends_on_every_file_of_a_folder_of_data) {
  run_options o;
  o.run.data = "idx:dir=" + folder_.path();
  const std::vector<std::string> names{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                       "t10k-labels-idx1-ubyte"};
  for (const auto& name : names)
    folder_.write(name, "before");
  for (const auto& name : names)
    expect_dependence(o, name);
  const auto before = key_of(o);
  folder_.write("notes.txt", "no data");
  EXPECT_EQ(key_of(o), before);
}

TEST_F(a_result_key, depends_on_the_checkpoints_of_a_run_that_goes_on) {
  std::filesystem::create_directories(path("run/checkpoints/20"));
  run_options o;
  o.resume = path("run");
  expect_dependence(o, "run/checkpoints/20/worker-1");
}

TEST_F(a_result_key, exists_for_files_that_do_not) {
  run_options o;
  o.faults = path("none.toml");
  const auto before = key_of(o);
  folder_.write("none.toml", "");
  EXPECT_NE(key_of(o), before);
}

} // namespace
} // namespace gossamer::apps
