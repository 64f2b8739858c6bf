// Runs that go on from checkpoints, among several nodes.
#include "gossamer/actors/real_time/local_world.hpp"

#include "cluster.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::actors {
namespace {

namespace fs = std::filesystem;

enum class place { one_process, three_nodes };

/// A run that is saved, cut off, and resumed, each in one process or among nodes.
class saved_run {
public:
  explicit saved_run(const std::string& algorithm, std::optional<double> lr = std::nullopt) {
    auto s = small_run(algorithm);
    s.lr = lr;
    s.epochs = 30; // 141 steps
    s.checkpoint.steps = 20;
    e_ = prepare(s);
  }

  recorder run_in(place where, std::shared_ptr<const resumption> from = nullptr) {
    recorder seen;
    const run_surroundings around{.observer = &seen, .checkpoints = folder(), .from = std::move(from)};
    if (where == place::one_process) {
      run_locally(e_, around);
    } else {
      cluster nodes{std::vector<joiner>(2)};
      nodes.run(e_, around);
      EXPECT_THAT(nodes.ends(), testing::Each(""));
    }
    EXPECT_THAT(seen.events, testing::IsEmpty());
    return seen;
  }

  /// Returns the last checkpoint before the final one. Returns the final one if thread timing left no other.
  std::shared_ptr<const resumption> cut_off() const {
    const auto complain = [](const std::string& what) { ADD_FAILURE() << what; };
    if (std::distance(fs::directory_iterator{folder().path()}, {}) > 1)
      fs::remove_all(folder().path() / std::to_string(folder().newest(complain).all.checkpoint));
    return std::make_shared<const resumption>(folder().newest(complain));
  }

  const experiment& of() const { return *e_; }
  checkpoint_folder folder() const { return checkpoint_folder{fs::path{scratch_.path()} / "checkpoints"}; }

private:
  test::scratch_folder scratch_;
  std::shared_ptr<const experiment> e_;
};

class every_way_to_go_on : public testing::TestWithParam<std::pair<place, place>> {};

TEST_P(every_way_to_go_on, comes_to_where_a_synchronous_run_would_have_come) {
  const auto [first, second] = GetParam();
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "dcd-psgd", "cser"}) {
    SCOPED_TRACE(algorithm);
    saved_run run{algorithm};
    const auto whole = run.run_in(first);
    const auto from = run.cut_off();
    const auto on = run.run_in(second, from);
    ASSERT_FALSE(on.records.empty());
    const auto found = std::ranges::find(whole.records, on.records.front().step, &evaluation_record::step);
    ASSERT_NE(found, whole.records.end());
    EXPECT_GE(on.records.front().step, from->all.updates());
    ASSERT_EQ(static_cast<std::size_t>(whole.records.end() - found), on.records.size());
    for (std::size_t k = 0; k < on.records.size(); ++k) {
      EXPECT_EQ(on.records[k].train_loss, (found + static_cast<std::ptrdiff_t>(k))->train_loss) << k;
      EXPECT_EQ(on.records[k].consensus_distance, (found + static_cast<std::ptrdiff_t>(k))->consensus_distance) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, every_way_to_go_on,
                         testing::Values(std::pair{place::one_process, place::one_process},
                                         std::pair{place::one_process, place::three_nodes},
                                         std::pair{place::three_nodes, place::one_process},
                                         std::pair{place::three_nodes, place::three_nodes}),
                         [](const auto& way) {
                           const auto name = [](place p) { return p == place::one_process ? "one_process" : "nodes"; };
                           return std::string{name(way.param.first)} + "_then_" + name(way.param.second);
                         });

TEST(cluster_checkpoints, keep_asynchronous_runs_with_and_without_masters) {
  for (const char* algorithm : {"ad-psgd", "async-sgd", "eamsgd", "asy-lpg"}) {
    SCOPED_TRACE(algorithm);
    saved_run run{algorithm, 0.002}; // low enough for gradients of any age
    const auto begun = run.run_in(place::three_nodes).records.front();
    const auto from = run.cut_off();
    EXPECT_EQ(from->parts.size(), run.of().participants());
    const auto on = run.run_in(place::three_nodes, from);
    EXPECT_GE(on.records.back().step, run.of().steps_per_worker * run.of().settings.workers);
    EXPECT_LT(on.records.back().train_loss, begun.train_loss);
  }
}

TEST(cluster_checkpoints, say_whose_part_is_missing) {
  saved_run run{"d-psgd"};
  run.run_in(place::one_process);
  auto from = *run.cut_off();
  fs::remove(run.folder().path() / std::to_string(from.all.checkpoint) / "worker-3");
  from.parts.erase(3);
  recorder seen;
  cluster nodes{std::vector<joiner>(2)};
  const auto from_here = std::make_shared<const resumption>(from);
  try {
    nodes.run(prepare(run.of().settings), {.observer = &seen, .checkpoints = run.folder(), .from = from_here});
    FAIL() << "it went on";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("has no state for worker 3; copy its file"));
  }
}

TEST(cluster_checkpoints, let_a_node_come_back_to_a_resumed_run_without_what_was_saved) {
  saved_run run{"d-psgd"};
  run.run_in(place::one_process);
  const auto from = run.cut_off();
  auto settings = run.of().settings;
  settings.epochs = 1e6; // runs until the others have trained on for a while
  settings.eval_every = 1;
  settings.checkpoint = {};
  event_watch seen{"comes back"};
  const auto leaves_when_all_is_removed = [&] {
    if (!seen.begun)
      return false;
    fs::remove_all(from->folder);
    return true;
  };
  cluster nodes{{{}, {.leaves = leaves_when_all_is_removed, .then = joiner{}.leaves}}};
  const auto summary = nodes.run(prepare(settings),
                                 {.observer = &seen, .interrupted = [&] { return seen.gone_on.load(); }, .from = from});
  EXPECT_GE(summary.lost, 1u);
  EXPECT_EQ(summary.returned, summary.lost);
  EXPECT_THAT(nodes.ends(), testing::Each(""));
}

} // namespace
} // namespace gossamer::actors
