// Runs among several nodes that leave, come and return.
#include "gossamer/actors/cluster/cluster_client.hpp"
#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/node/rendezvous.hpp"
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/telemetry/observers.hpp"

#include <asio/ip/tcp.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "cluster.hpp"
#include "support/broken_connections.hpp"
#include "support/push_gossip.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class every_algorithm_across_nodes : public testing::TestWithParam<std::string> {};

TEST_P(every_algorithm_across_nodes, comes_to_what_it_comes_to_in_one_process) {
  const auto e = prepare(small_run(GetParam()));
  recorder here, across;
  const auto local = run_locally(e, {.observer = &here});
  cluster nodes{std::vector<joiner>(3)};
  const auto summary = nodes.run(e, {.observer = &across});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  EXPECT_EQ(summary.end, run_end::planned);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_TRUE(std::isfinite(summary.final.train_loss));
  EXPECT_GT(summary.final.payload_bits, 0u);
  EXPECT_EQ(std::accumulate(summary.steps_per_worker.begin(), summary.steps_per_worker.end(), std::uint64_t{0}),
            summary.final.step);
  EXPECT_GE(summary.final.step, e->steps_per_worker * e->settings.workers);
  if (!e->algorithm->traits.synchronous)
    return; // threads and networks decide the result of an asynchronous run
  expect_alike(across.records, here.records, GetParam() == "streaming-diloco");
  EXPECT_EQ(summary.final.wire_bits, local.final.wire_bits);
  EXPECT_EQ(summary.steps_per_worker, local.steps_per_worker);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& entry : algorithms())
    result.push_back(entry.about.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(algorithms, every_algorithm_across_nodes, testing::ValuesIn(names()), [](const auto& entry) {
  auto name = entry.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(cluster_world, takes_what_is_sent_without_waiting_for_answers) {
  auto s = small_run("push-gossip");
  s.under_way = 1;
  const auto prepare_run = [](const std::string& settings, const compute::data_files&) {
    return prepare(parse_run_settings(settings, "the leader's settings"),
                   {.algorithms = testing_support::push_gossips()});
  };
  cluster nodes{std::vector(3, joiner{.prepare_run = prepare_run})};
  const auto summary = nodes.run(prepare(s, {.algorithms = testing_support::push_gossips()}));
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  EXPECT_EQ(summary.end, run_end::planned);
  EXPECT_EQ(summary.lost, 0u);
}

TEST(cluster_world, deals_ranks_in_proportion_to_slots) {
  using ranks = std::vector<rank>;
  const std::uint32_t slots[] = {1, 2, 1};
  EXPECT_THAT(deal_ranks(8, 0, slots), testing::ElementsAre(ranks{0, 1}, ranks{2, 3, 4, 5}, ranks{6, 7}));
  EXPECT_THAT(deal_ranks(3, 2, slots), testing::ElementsAre(ranks{3}, ranks{0, 1, 4}, ranks{2}));
}

TEST(cluster_world, evaluates_over_many_nodes_as_it_does_in_one_process) {
  auto settings = small_run("d-psgd");
  settings.workers = 13; // makes nodes with one worker and nodes with two
  settings.epochs = 1;
  const auto e = prepare(settings);
  recorder here, across;
  run_locally(e, {.observer = &here});
  cluster nodes{std::vector<joiner>(8)};
  nodes.run(e, {.observer = &across});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  expect_alike(across.records, here.records);
}

TEST(cluster_world, ends_when_nodes_leave_at_any_moment_of_an_evaluation_or_after) {
  for (int after = 0; after < 6; ++after) { // number of evaluations; the last ones are near the end
    auto settings = small_run(after % 2 == 0 ? "d-psgd" : "ad-psgd");
    settings.epochs = 1;
    settings.eval_every = 0.2;
    struct observer final : run_observer {
      explicit observer(int after) : left(after) {}
      void on_evaluation(const evaluation_record&) override { --left; }
      std::atomic<int> left;
    } seen{after};
    const joiner leaves{.leaves = [&] { return seen.left < 0; }};
    cluster nodes{{{}, leaves, leaves}};
    const auto summary = nodes.run(prepare(settings), {.observer = &seen});
    EXPECT_EQ(summary.end, run_end::planned);
    EXPECT_TRUE(std::isfinite(summary.final.train_loss));
    EXPECT_THAT(nodes.ends()[1], "");
  }
}

TEST(cluster_world, ends_for_all_when_the_observer_of_the_leader_fails) {
  struct full_disk final : run_observer {
    void on_evaluation(const evaluation_record& r) override {
      if (r.step > 0)
        throw error(errc::io, "the disk is full");
    }
  } disk;
  cluster nodes{{{}, {}}};
  EXPECT_THROW(nodes.run(prepare(small_run("ad-psgd")), {.observer = &disk}), error);
  const auto ends = nodes.ends();
  for (const std::size_t k : {1u, 2u})
    EXPECT_THAT(ends.at(k), HasSubstr("the leader says: the disk is full")) << "node " << k << " did not go on";
}

/// Looks on until it has seen all that it wants of the workers on every node.
struct worker_watch final : run_observer {
  explicit worker_watch(std::size_t n) : workers(n) {}
  bool watches_workers() const override { return true; }
  void on_workers(workers_record r) override {
    for (const auto& l : r.links)
      senders.insert(l.from);
    for (std::uint32_t i = 0; i < r.used.size(); ++i)
      if (r.used[i].of(activity::computing) > 0)
        busy.insert(i);
    has_seen_all = senders.size() == workers && busy.size() == workers;
  }
  std::size_t workers;
  std::set<std::uint32_t> senders, busy;
  std::atomic<bool> has_seen_all = false;
};

TEST(cluster_world, tells_who_looks_on_what_workers_on_all_nodes_do) {
  auto settings = small_run("d-psgd");
  settings.workers = 6;
  settings.epochs = 1e6;
  worker_watch seen{settings.workers};
  cluster nodes{{{}, {}}};
  const auto summary =
      nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.has_seen_all.load(); }});
  EXPECT_EQ(summary.end, run_end::interrupted);
  EXPECT_THAT(nodes.ends(), testing::Each(""));
}

TEST(cluster_world, shows_its_lines_to_an_onlooker_without_losing_anything) {
  auto settings = small_run("ad-psgd");
  settings.epochs = 1e6;
  std::atomic<bool> is_over = false;
  cluster nodes{{{}, {}}};
  nodes.read_lines = [](run_lines& all) {
    const auto seen = all.next;
    all.next = 7;
    all.lines = {seen == 0 ? "first" : "then"};
  };
  std::vector<std::string> lines;
  std::jthread looks_on;
  struct observer final : run_observer {
    explicit observer(std::function<void()> b) : begins(std::move(b)) {}
    void on_progress(const progress_record&) override {
      if (begins)
        std::exchange(begins, {})();
    }
    std::function<void()> begins;
  } seen{[&] {
    looks_on = std::jthread{[&] {
      node_settings s;
      s.where = {"127.0.0.1", nodes.port};
      s.threads = 1;
      onlooker at_door{s};
      for (int k = 0; k < 3; ++k)
        for (auto& line : at_door.look())
          lines.push_back(std::move(line));
      is_over = true;
    }};
  }};
  const auto summary = nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return is_over.load(); }});
  EXPECT_THAT(lines, testing::ElementsAre("first", "then", "then"));
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_THAT(nodes.ends(), testing::Each(""));
}

TEST(cluster_world, goes_on_when_a_node_leaves) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd", "cser"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.epochs = 1e6; // runs until the others have trained on for a while
    event_watch seen{"lost"};
    settings.eval_every = 1;
    cluster nodes{{{}, {.leaves = [&] { return seen.begun.load(); }}}};
    const auto summary =
        nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.gone_on.load(); }});
    EXPECT_GE(summary.lost, 1u);
    EXPECT_EQ(summary.end, run_end::interrupted);
    EXPECT_TRUE(std::isfinite(summary.final.train_loss));
    EXPECT_THAT(nodes.ends()[1], "");
    EXPECT_THAT(nodes.ends()[2], HasSubstr("interrupted"));
  }
}

TEST(cluster_world, takes_back_a_node_that_is_started_again) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd", "dcd-psgd"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.epochs = 1e6;
    settings.eval_every = 1;
    event_watch seen{"comes back"};
    joiner leaves_once{.leaves = [&] { return seen.begun.load(); }, .then = joiner{}.leaves};
    cluster nodes{{{}, leaves_once}};
    const auto summary =
        nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.gone_on.load(); }});
    EXPECT_GE(summary.lost, 1u);
    EXPECT_EQ(summary.returned, summary.lost);
    EXPECT_TRUE(std::isfinite(summary.final.train_loss));
    EXPECT_THAT(nodes.ends(), testing::Each(""));
  }
}

/// Two nodes join a run of three, then one founder and one newcomer leave.
TEST(cluster_world, grows_and_lets_go) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd", "cser", "dcd-psgd", "marsit"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.workers = 3;
    settings.max_workers = 6;
    settings.epochs = 1e6;
    settings.eval_every = 1;
    event_watch third{"worker 3 comes"}, fourth{"worker 4 comes"}, gone{"has left; 3 go on"};
    observers seen{{&third, &fourth, &gone}};
    const joiner stays, quits{.quits = [&] { return third.gone_on && fourth.gone_on; }};
    cluster nodes{{stays, quits, quits, stays}, 2};
    const auto summary =
        nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return gone.gone_on.load(); }});
    EXPECT_THAT(nodes.ends(), testing::Each(""));
    EXPECT_EQ(summary.end, run_end::interrupted);
    EXPECT_EQ(summary.returned, summary.lost + 2) << "who comes for the first time counts as well; when both come at "
                                                     "the same time, the first may have to begin anew";
    EXPECT_EQ(std::ranges::count(summary.steps_per_worker, 0u), 1) << "of the one who never came";
    EXPECT_TRUE(std::isfinite(summary.final.train_loss));
  }
}

TEST(cluster_world, loses_nobody_where_connections_of_the_control_plane_are_reset) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.epochs = 1e6;
    settings.eval_every = 1;
    cluster nodes{std::vector<joiner>(3)};
    struct firewall final : run_observer {
      explicit firewall(const cluster& c) : all(c) {}
      void on_evaluation(const evaluation_record& r) override {
        if (r.step == 0)
          return;
        for (const auto door : all.doors())
          resets += testing_support::reset_connections_to(door);
        is_over = ++times >= 20;
      }
      const cluster& all;
      int times = 0, resets = 0;
      std::atomic<bool> is_over = false;
    } seen{nodes};
    const auto summary =
        nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.is_over.load(); }});
    EXPECT_GT(seen.resets, 20);
    EXPECT_EQ(summary.end, run_end::interrupted);
    EXPECT_EQ(summary.lost, 0u);
    EXPECT_THAT(nodes.ends(), testing::Each(""));
  }
}

TEST(cluster_world, refuses_a_node_with_other_data) {
  joiner other;
  other.prepare_run = [](const std::string& text, const compute::data_files&) {
    auto settings = parse_run_settings(text, "the leader's settings");
    settings.data = "digits:samples=500,test=100";
    return prepare(settings);
  };
  cluster nodes{{other}};
  nodes.ends_without_joiners = true;
  EXPECT_THROW(nodes.run(prepare(small_run("d-psgd"))), error);
  EXPECT_THAT(nodes.ends()[1], AllOf(HasSubstr("another run"), HasSubstr("samples=600"), HasSubstr("samples=500")));
  EXPECT_THAT(nodes.said(), Contains(AllOf(HasSubstr("refused"), HasSubstr("samples=500"))));
}

TEST(cluster_world, says_who_has_not_come) {
  cluster nodes{{}};
  leader_settings s;
  s.where = {"127.0.0.1", 0};
  s.nodes = 2;
  s.wait = std::chrono::seconds(0);
  try {
    lead_cluster(prepare(small_run("d-psgd")), s);
    FAIL() << "it waits for nobody";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("have come"));
  }
}

TEST(cluster_world, tells_those_who_wait_why_there_is_no_run) {
  std::atomic<bool> one_is_ready = false;
  std::string end;
  std::jthread waits;
  leader_settings s;
  s.where = {"127.0.0.1", 0};
  s.nodes = 3;
  s.tell = [&](const std::string& line) { one_is_ready = one_is_ready || line.find("is ready") != line.npos; };
  s.interrupted = [&] { return one_is_ready.load(); };
  s.listens = [&](const endpoint& where) {
    waits = std::jthread{[&end, where] {
      joining_settings there;
      there.where = {"127.0.0.1", where.port};
      try {
        join_cluster(there, joiner{}.prepare_run);
      } catch (const error& e) {
        end = e.what();
      }
    }};
  };
  EXPECT_THROW(lead_cluster(prepare(small_run("d-psgd")), s), error);
  waits.join();
  EXPECT_THAT(end, HasSubstr("the leader says: interrupted while it waited for nodes"));
}

TEST(cluster_world, says_that_nobody_leads) {
  joining_settings s;
  s.where = {"127.0.0.1", 1};
  s.wait = std::chrono::milliseconds(300);
  try {
    join_cluster(s, [](const std::string&, const compute::data_files&) { return nullptr; });
    FAIL() << "nobody can be there";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("nobody leads a run at 127.0.0.1:1"));
  }
}

/// As that of a process is which was stopped.
TEST(cluster_world, is_joined_at_another_door_where_the_first_one_is_silent) {
  asio::io_context io;
  const asio::ip::tcp::acceptor silent{io, {asio::ip::address_v4::loopback(), 0}};
  cluster nodes{{{.first_door = endpoint{"127.0.0.1", silent.local_endpoint().port()}}}};
  nodes.ends_without_joiners = true;
  EXPECT_NO_THROW(nodes.run(prepare(small_run("all-reduce-sgd"))));
  EXPECT_THAT(nodes.ends(), testing::Each(""));
}

TEST(cluster_world, tells_all_nodes_why_the_run_failed) {
  auto settings = small_run("all-reduce-sgd");
  settings.data = settings.model = "quadratic";
  settings.lr = 1e6;
  cluster nodes{std::vector<joiner>(1)};
  EXPECT_THROW(nodes.run(prepare(settings)), error);
  EXPECT_THAT(nodes.ends()[1], HasSubstr("diverged"));
}

TEST(cluster_world, injects_the_faults_of_a_plan_on_every_node) {
  const auto plan = parse_plan("[[fault]]\nkind = 'duplicate'\nat = 0\nrate = 0.5\n", "plan");
  const auto e = prepare(small_run("d-psgd"));
  const auto plain = run_locally(e);
  cluster nodes{std::vector<joiner>(3)};
  const auto summary = nodes.run(e, {.faults = plan});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  EXPECT_EQ(summary.final.train_loss, plain.final.train_loss);
  EXPECT_GT(summary.final.wire_bits, plain.final.wire_bits) << "links that may fail are acknowledged";
}

TEST(cluster_world, kills_and_starts_workers_of_other_nodes_as_a_plan_says) {
  const auto plan = parse_plan("[[fault]]\nkind = 'kill'\nworkers = [2]\nat-step = 10\nfor = 0.05\n", "plan");
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.epochs = 1e6;
    struct observer final : run_observer {
      void on_event(const event_record& r) override { back = back || r.what.find("comes back") != r.what.npos; }
      std::atomic<bool> back{false};
    } seen;
    cluster nodes{std::vector<joiner>(3)};
    const auto summary = nodes.run(
        prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.back.load(); }, .faults = plan});
    EXPECT_EQ(summary.lost, 1u);
    EXPECT_EQ(summary.returned, 1u);
    EXPECT_THAT(nodes.ends(), testing::Each(""));
  }
}

} // namespace
} // namespace gossamer::actors
