// Several nodes, each with an actor system and a data plane of its own, on sockets of this machine. They stand in one
// process here; tests/process has them in several.
#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/worlds/cluster_world.hpp"
#include "gossamer/actors/worlds/local_world.hpp"
#include "gossamer/actors/worlds/rendezvous.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>

#include "data_plane/certificates.hpp"
#include "data_plane/raw_connection.hpp"
#include "support/push_gossip.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

run_settings small_run(const std::string& algorithm) {
  run_settings s;
  s.algorithm = algorithm;
  s.data = "digits:samples=600,test=100";
  s.model = "mlp:hidden=16";
  s.epochs = 3;
  return s;
}

struct recorder final : run_observer {
  void on_evaluation(const evaluation_record& r) override { records.push_back(r); }
  void on_event(double, const std::string& what) override { events.push_back(what); }
  std::vector<evaluation_record> records;
  std::vector<std::string> events;
};

/// What a node that has joined does.
struct joiner {
  std::function<std::shared_ptr<const experiment>(const std::string&)> prepare_run = [](const std::string& settings) {
    return prepare(parse_run_settings(settings, "the leader's settings"));
  };
  std::function<bool()> leaves = [] { return false; };
  std::function<bool()> then = {}; ///< when it is started again after that, if it is
  std::shared_ptr<const tls_identity> identity = nullptr;
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

/// A run among nodes that join over loopback.
class cluster {
public:
  explicit cluster(std::vector<joiner> joiners) : joiners_(std::move(joiners)) {}

  run_summary run(const std::shared_ptr<const experiment>& e, const run_surroundings& around = {}) {
    leader_settings s;
    s.where = {"127.0.0.1", 0};
    s.nodes = joiners_.size() + 1;
    s.wait = wait;
    s.tell = [this](const std::string& line) { say(line); };
    s.identity = identity;
    s.listens = [this](const endpoint& where) {
      port = where.port;
      for (std::uint32_t k = 1; k <= joiners_.size(); ++k)
        threads_.emplace_back([this, where, k] { join(where, k); });
    };
    const auto summary = lead_cluster(e, s, around);
    threads_.clear(); // until all have left
    return summary;
  }

  std::vector<std::string> said() const {
    const std::scoped_lock lock{mutex_};
    return said_;
  }
  /// Waits until all have left. @returns how that came, by node; empty: as planned
  std::vector<std::string> ends() {
    threads_.clear();
    return ends_;
  }

  std::chrono::seconds wait = std::chrono::minutes(1);
  std::shared_ptr<const tls_identity> identity = nullptr; ///< of the leader
  std::uint16_t port = 0;                                 ///< for control messages

private:
  void say(const std::string& line) {
    const std::scoped_lock lock{mutex_};
    said_.push_back(line);
  }

  void join(const endpoint& where, std::uint32_t k) {
    joining_settings s;
    s.where = where;
    s.wanted = k;
    const auto& how = joiners_[k - 1];
    s.identity = how.identity;
    s.wait = s.patience = how.patience;
    s.interrupted = how.leaves;
    auto end = end_of(s, how);
    if (how.then) {
      s.interrupted = how.then;
      end = end_of(s, how);
    }
    const std::scoped_lock lock{mutex_};
    ends_.resize(joiners_.size() + 1);
    ends_[k] = end;
  }

  static std::string end_of(const joining_settings& s, const joiner& how) {
    try {
      join_cluster(s, how.prepare_run);
      return "";
    } catch (const error& e) {
      return e.what();
    }
  }

  std::vector<joiner> joiners_;
  mutable std::mutex mutex_;
  std::vector<std::string> said_, ends_;
  std::vector<std::jthread> threads_;
};

/// Notices that training has begun, that something has happened, and that training has gone on since.
struct event_watch final : run_observer {
  explicit event_watch(std::string words) : words_(std::move(words)) {}
  void on_evaluation(const evaluation_record& r) override {
    begun = begun || r.step > 0;
    gone_on = gone_on || happened_;
  }
  void on_event(double, const std::string& what) override { happened_ = happened_ || what.find(words_) != what.npos; }
  std::atomic<bool> begun{false}, gone_on{false};

private:
  std::string words_;
  bool happened_ = false;
};

auto what_it_comes_to(const evaluation_record& r) {
  return std::tuple{r.step, r.epoch, r.train_loss, r.test_loss, r.test_accuracy, r.consensus_distance, r.payload_bits};
}

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
    return; // what it comes to is up to threads and networks
  ASSERT_EQ(across.records.size(), here.records.size());
  for (std::size_t k = 0; k < here.records.size(); ++k)
    EXPECT_EQ(what_it_comes_to(across.records[k]), what_it_comes_to(here.records[k])) << "evaluation " << k;
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
  const auto prepare_run = [](const std::string& settings) {
    return prepare(parse_run_settings(settings, "the leader's settings"), testing_support::push_gossips());
  };
  cluster nodes{std::vector(3, joiner{.prepare_run = prepare_run})};
  const auto summary = nodes.run(prepare(s, testing_support::push_gossips()));
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
  settings.workers = 13; // so that nodes have one or two
  settings.epochs = 1;
  const auto e = prepare(settings);
  recorder here, across;
  run_locally(e, {.observer = &here});
  cluster nodes{std::vector<joiner>(8)};
  nodes.run(e, {.observer = &across});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  ASSERT_EQ(across.records.size(), here.records.size());
  for (std::size_t k = 0; k < here.records.size(); ++k)
    EXPECT_EQ(what_it_comes_to(across.records[k]), what_it_comes_to(here.records[k])) << "evaluation " << k;
}

TEST(cluster_world, ends_when_nodes_leave_at_any_moment_of_an_evaluation_or_after) {
  for (int after = 0; after < 6; ++after) { // evaluations; the last ones are near the end
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

TEST(cluster_world, goes_on_when_a_node_leaves) {
  for (const char* algorithm : {"all-reduce-sgd", "ad-psgd", "cser"}) {
    SCOPED_TRACE(algorithm);
    auto settings = small_run(algorithm);
    settings.epochs = 1e6; // until the others have gone on for a while
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

TEST(cluster_world, refuses_a_node_with_other_data) {
  joiner other;
  other.prepare_run = [](const std::string& text) {
    auto settings = parse_run_settings(text, "the leader's settings");
    settings.data = "digits:samples=500,test=100";
    return prepare(settings);
  };
  cluster nodes{{other}};
  nodes.wait = std::chrono::seconds(1);
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

TEST(cluster_world, says_that_nobody_leads) {
  joining_settings s;
  s.where = {"127.0.0.1", 1};
  s.wait = std::chrono::milliseconds(300);
  try {
    join_cluster(s, [](const std::string&) { return nullptr; });
    FAIL() << "nobody can be there";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("nobody leads a run at 127.0.0.1:1"));
  }
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
      void on_event(double, const std::string& what) override { back = back || what.find("comes back") != what.npos; }
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

TEST(cluster_with_certificates, comes_to_what_it_comes_to_in_one_process_and_hears_no_strangers) {
  const auto e = prepare(small_run("d-psgd"));
  recorder here;
  run_locally(e, {.observer = &here});
  test::certificates authority;
  cluster nodes{{{.identity = authority.identity("localhost")}, {.identity = authority.identity()}}};
  nodes.identity = authority.identity();
  struct observer final : run_observer {
    explicit observer(const cluster& c) : all(c) {}
    void on_evaluation(const evaluation_record& r) override {
      records.push_back(r);
      for (std::uint8_t k = 0; k < 10; ++k) {
        strangers.emplace_back(all.port);
        strangers.back().send(std::vector(100U * k, std::byte{k}));
      }
    }
    const cluster& all;
    std::vector<evaluation_record> records;
    std::vector<test::raw_connection> strangers;
  } across{nodes};
  const auto summary = nodes.run(e, {.observer = &across});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  EXPECT_EQ(summary.lost, 0u);
  ASSERT_EQ(across.records.size(), here.records.size());
  for (std::size_t k = 0; k < here.records.size(); ++k)
    EXPECT_EQ(what_it_comes_to(across.records[k]), what_it_comes_to(here.records[k])) << "evaluation " << k;
}

/// What a node hears that comes with one identity to a leader with another.
std::string end_of_stranger(std::shared_ptr<const tls_identity> leader, std::shared_ptr<const tls_identity> stranger) {
  cluster nodes{{{.identity = std::move(stranger), .patience = std::chrono::milliseconds(300)}}};
  nodes.identity = std::move(leader);
  nodes.wait = std::chrono::seconds(1);
  EXPECT_THROW(nodes.run(prepare(small_run("d-psgd"))), error) << "nobody has come";
  EXPECT_THAT(nodes.said(), testing::IsEmpty());
  return nodes.ends()[1];
}

TEST(cluster_with_certificates, lets_nobody_in_without_one_of_its_authority) {
  test::certificates ours, others;
  EXPECT_THAT(end_of_stranger(ours.identity(), ours.believer(others)),
              HasSubstr("it says that this node's certificate is not of its authority"));
  EXPECT_THAT(end_of_stranger(ours.identity(), ours.identity("127.0.0.1", test::expired)),
              HasSubstr("it says that this node's certificate has expired"));
  EXPECT_THAT(end_of_stranger(ours.identity(), nullptr), HasSubstr("as a leader with certificates does"));
}

TEST(cluster_with_certificates, joins_nobody_without_one_of_its_authority_for_that_host) {
  test::certificates ours, others;
  EXPECT_THAT(end_of_stranger(others.identity(), ours.identity()),
              HasSubstr("it shows a certificate that is not of this authority"));
  EXPECT_THAT(end_of_stranger(ours.identity("127.0.0.1", test::expired), ours.identity()),
              HasSubstr("it shows a certificate that has expired"));
  EXPECT_THAT(end_of_stranger(ours.identity("192.0.2.7"), ours.identity()),
              HasSubstr("it shows a certificate that is for another host"));
  EXPECT_THAT(end_of_stranger(nullptr, ours.identity()), HasSubstr("it does not speak TLS"));
}

TEST(cluster_with_certificates, goes_on_when_a_node_leaves) {
  auto settings = small_run("all-reduce-sgd");
  settings.epochs = 1e6; // until the others have gone on for a while
  settings.eval_every = 1;
  event_watch seen{"lost"};
  test::certificates authority;
  cluster nodes{{{.identity = authority.identity()},
                 {.leaves = [&] { return seen.begun.load(); }, .identity = authority.identity()}}};
  nodes.identity = authority.identity();
  const auto summary =
      nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.gone_on.load(); }});
  EXPECT_GE(summary.lost, 1u);
  EXPECT_THAT(nodes.ends()[1], "");
  EXPECT_THAT(nodes.ends()[2], HasSubstr("interrupted"));
}

} // namespace
} // namespace gossamer::actors
