// A coordinator and the evaluators of several nodes, whose workers do nothing but put models aside, on a network that
// counts.
#include "gossamer/actors/runtime/coordination.hpp"
#include "gossamer/actors/runtime/coordinator.hpp"
#include "gossamer/actors/runtime/evaluation_frames.hpp"
#include "gossamer/actors/runtime/evaluator.hpp"
#include "gossamer/actors/runtime/sink_table.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <variant>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// Between the evaluators; counts frames by who gets them.
class counting_transport final : public transport {
public:
  void attach(life who, frame_sink sink) override { sinks_.attach(who, std::move(sink)); }
  std::unique_ptr<link> link_to(rank, life to) override { return std::make_unique<counted>(*this, to); }
  std::size_t sent_to(life who) {
    const std::scoped_lock lock{mutex_};
    return sent_[who];
  }

private:
  struct counted final : link {
    counted(counting_transport& on, life who) : net(on), to(who) {}
    void send(frame f) override {
      {
        const std::scoped_lock lock{net.mutex_};
        ++net.sent_[to];
      }
      (*net.sinks_.find(to))(std::move(f));
    }
    counting_transport& net;
    life to;
  };

  sink_table sinks_;
  std::mutex mutex_;
  std::map<life, std::size_t> sent_;
};

/// When a node does something else than it should.
enum class conduct : std::uint8_t { good, dies_when_asked_for_the_mean, sends_nonsense };

/// A node with one worker, whose model is its rank in every element.
struct node_parts {
  std::shared_ptr<const experiment> run;
  std::shared_ptr<counting_transport> net;
  std::vector<std::uint32_t> homes;
  std::uint32_t number = 0;
  conduct how = conduct::good;
};

caf::actor spawn_evaluator_of(caf::actor_system& system, const node_parts& n, const caf::actor& supervisor) {
  const auto started = spawn_evaluator(
      system, {.run = n.run, .node = n.number, .homes = n.homes, .net = n.net, .supervisor = supervisor});
  n.net->attach(evaluating_life(n.homes.size(), n.number),
                [started](frame f) { caf::anon_send(started, std::move(f)); });
  return started;
}

caf::behavior node_with_one_worker(caf::event_based_actor* self, node_parts n) {
  const auto evaluator = spawn_evaluator_of(self->system(), n, self);
  const auto kept = std::make_shared<kept_models>();
  const auto coordinator = std::make_shared<caf::actor>();
  const auto who = static_cast<rank>(n.number - 1);
  self->attach_functor([evaluator] { caf::anon_send_exit(evaluator, caf::exit_reason::user_shutdown); });
  return {
      [](const start_worker&) {},
      [](heartbeat) {},
      [=](const begin_run&) {
        *coordinator = caf::actor_cast<caf::actor>(self->current_sender());
        self->send(*coordinator, worker_finished{who, 0});
      },
      [=](const snapshot_request& m) {
        vec model = n.run->initial;
        for (auto& x : model.mutate())
          x = static_cast<float>(who);
        const snapshot s{.source = who, .evaluation = m.evaluation, .gradients = 1, .model = model, .sent = {}};
        kept->keep(s);
        self->send(*coordinator, without_model(s));
      },
      [=](const mean_request& m) {
        if (n.how == conduct::dies_when_asked_for_the_mean)
          return self->quit(caf::exit_reason::kill);
        if (n.how == conduct::sends_nonsense)
          return n.net->link_to(0, evaluating_life(n.homes.size(), 0))
              ->send(to_frame({}, m.number, evaluating_life(n.homes.size(), n.number), {}));
        self->send(evaluator, evaluate_models{kept->take(m.number, m.evaluation, lives_in(m.lives, n.homes.size()))});
      },
      [=](const node_lost& m) { self->send(*coordinator, m); },
  };
}

/// Nodes 1 to n with a worker each, and the leader with none: one evaluation, the final one.
class final_evaluation {
public:
  explicit final_evaluation(std::vector<conduct> nodes)
      : run_(small_run("d-psgd", "complete", nodes.size())), system_(config_), self_(system_) {
    std::vector<std::uint32_t> homes;
    for (std::uint32_t k = 1; k <= nodes.size(); ++k)
      homes.push_back(k);
    coordinator_setup setup;
    setup.run = run_;
    setup.client = self_;
    for (std::uint32_t k = 1; k <= nodes.size(); ++k) {
      nodes_.push_back(system_.spawn(node_with_one_worker, node_parts{run_, net_, homes, k, nodes[k - 1]}));
      setup.others.push_back(
          {.number = k, .handle = caf::actor_cast<ordered_interface::handle>(nodes_.back()), .ranks = {k - 1}});
    }
    setup.spawn_evaluator = [this, homes](const caf::actor& coordinator) {
      return spawn_evaluator_of(system_, {run_, net_, homes}, coordinator);
    };
    coordinator_ = spawn_coordinator(system_, std::move(setup));
    self_->send(coordinator_, start_run{});
  }
  ~final_evaluation() {
    for (const auto& node : nodes_)
      caf::anon_send_exit(node, caf::exit_reason::kill);
  }

  std::variant<run_summary, run_failed> outcome() {
    std::variant<run_summary, run_failed> result;
    self_->receive([&](const run_summary& s) { result = s; }, [&](const run_failed& f) { result = f; });
    return result;
  }
  /// How many frames have come to node k.
  std::size_t sent_to(std::uint32_t k) { return net_->sent_to(evaluating_life(nodes_.size(), k)); }

private:
  std::shared_ptr<const experiment> run_;
  std::shared_ptr<counting_transport> net_ = std::make_shared<counting_transport>();
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  std::vector<caf::actor> nodes_;
  caf::actor coordinator_;
};

/// sqrt of the mean of (r - mean r)^2 in each of three elements.
double distance_of(const std::vector<double>& ranks) {
  double sum = 0, squares = 0;
  for (const auto r : ranks) {
    sum += r;
    squares += r * r;
  }
  const auto n = static_cast<double>(ranks.size());
  return std::sqrt(3 * (squares / n - sum / n * (sum / n)));
}

TEST(evaluation, brings_one_model_of_each_child_to_the_node_that_evaluates) {
  final_evaluation run{std::vector<conduct>(15)};
  const auto summary = std::get<run_summary>(run.outcome());
  EXPECT_EQ(summary.final.step, 15u);
  EXPECT_NEAR(summary.final.consensus_distance, distance_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}), 1e-6);
  EXPECT_EQ(run.sent_to(0), 4u) << "1, 2, 4 and 8";
  EXPECT_EQ(run.sent_to(8), 3u) << "9, 10 and 12";
  EXPECT_EQ(run.sent_to(15), 0u);
}

TEST(evaluation, takes_all_models_that_survive_when_nodes_die_in_the_final_one) {
  using enum conduct;
  final_evaluation run{{good, good, good, dies_when_asked_for_the_mean, good, good}};
  const auto summary = std::get<run_summary>(run.outcome());
  EXPECT_EQ(summary.lost, 0u) << "it had finished";
  EXPECT_NEAR(summary.final.consensus_distance, distance_of({0, 1, 2, 4, 5}), 1e-6);
}

TEST(evaluation, fails_when_the_last_models_are_lost_in_the_final_one) {
  final_evaluation run{std::vector<conduct>(3, conduct::dies_when_asked_for_the_mean)};
  EXPECT_THAT(std::get<run_failed>(run.outcome()).sentence, HasSubstr("has died"));
}

TEST(evaluation, loses_a_node_that_sends_nonsense_and_goes_on) {
  using enum conduct;
  final_evaluation run{{good, sends_nonsense, good}};
  const auto summary = std::get<run_summary>(run.outcome());
  EXPECT_NEAR(summary.final.consensus_distance, distance_of({0, 2}), 1e-6);
}

} // namespace
} // namespace gossamer::actors
