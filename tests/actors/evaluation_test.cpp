// A leader and the evaluators of several nodes, whose workers do nothing but put models aside, on a network that counts
// frames.
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/frames/sink_table.hpp"
#include "gossamer/actors/hosting/evaluator.hpp"
#include "gossamer/actors/node/world.hpp"

#include <gmock/gmock.h>

#include <mutex>
#include <variant>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// Connects the evaluators. Counts frames by receiver.
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

/// Conduct of a node; all but `good` break the rules.
enum class conduct : std::uint8_t { good, dies_when_asked_for_the_mean, sends_nonsense };

/// The parts of a node with one worker, whose model is its rank in every element.
struct node_parts {
  std::shared_ptr<const experiment> run;
  std::shared_ptr<counting_transport> net;
  std::vector<std::uint32_t> homes;
  std::shared_ptr<const consensus::charter> rules;
  consensus::resolution first;
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

/// Stands in for a real node: speaks for its worker, and agrees with the other nodes.
class fake_node {
public:
  fake_node() = default;

  void open(caf::event_based_actor* self, node_parts parts) {
    self_ = self;
    parts_ = std::move(parts);
    protocol_.emplace(*parts_.run, *parts_.rules, parts_.number, parts_.first);
    evaluator_ = spawn_evaluator_of(self->system(), parts_, self);
    self->attach_functor([evaluator = evaluator_] { caf::anon_send_exit(evaluator, caf::exit_reason::user_shutdown); });
  }

  void start() {
    leader_ = caf::actor_cast<caf::actor>(self_->current_sender());
    obey(protocol_->begin());
    obey(protocol_->on(worker_finished{who(), 0}));
  }
  void on(const consensus::message& m) { obey(protocol_->on(m)); }
  void keep_model(const snapshot_request& m) {
    vec model = parts_.run->initial;
    for (auto& x : model.mutate())
      x = static_cast<float>(who());
    const snapshot s{.source = who(), .evaluation = m.evaluation, .gradients = 1, .model = model, .sent = {}};
    kept_.keep(s);
    self_->send(leader_, without_model(s));
  }
  void form_mean(const mean_request& m) {
    const auto participants = parts_.homes.size();
    if (parts_.how == conduct::dies_when_asked_for_the_mean)
      return self_->quit(caf::exit_reason::kill);
    if (parts_.how == conduct::sends_nonsense)
      return parts_.net->link_to(0, evaluating_life(participants, 0))
          ->send(to_frame({}, m.number, evaluating_life(participants, parts_.number), {}));
    self_->send(evaluator_,
                evaluate_models{kept_.take(m.number, m.evaluation, m.root, lives_in(m.lives, participants))});
  }
  void complain(const node_lost& m) { self_->send(leader_, m); }

private:
  rank who() const { return parts_.number - 1; }

  void obey(const node_protocol::orders& all) {
    for (const auto& one : all)
      if (const auto* letter = std::get_if<consensus::post>(&one)) { // the leader alone votes
        EXPECT_THAT(letter->to, testing::ElementsAre(0));
        std::visit([this](const auto& m) { self_->send(leader_, m); }, letter->what);
      } else if (const auto* told = std::get_if<report_to>(&one)) {
        std::visit([this](const auto& m) { self_->send(leader_, m); }, told->what);
      } else if (const auto* question = std::get_if<hold_steps>(&one)) {
        obey(protocol_->on(worker_holds{who(), 0, question->round, 10, 10}));
      }
  }

  caf::event_based_actor* self_ = nullptr;
  node_parts parts_;
  std::optional<node_protocol> protocol_;
  caf::actor leader_, evaluator_;
  kept_models kept_;
};

caf::behavior node_with_one_worker(caf::stateful_actor<fake_node>* self, node_parts n) {
  auto& state = self->state;
  state.open(self, std::move(n));
  return {
      [](heartbeat) {},
      [](const run_books&) {},
      [](const save_checkpoint&) {},
      [&state](const begin_run&) { state.start(); },
      [&state](const consensus::hold& m) { state.on(m); },
      [&state](const consensus::propose& m) { state.on(m); },
      [&state](const consensus::proceed& m) { state.on(m); },
      [&state](const snapshot_request& m) { state.keep_model(m); },
      [&state](const mean_request& m) { state.form_mean(m); },
      [&state](const node_lost& m) { state.complain(m); },
  };
}

/// Runs one evaluation, the final one. Nodes 1 to n have a worker each, the leader has none.
class final_evaluation {
public:
  explicit final_evaluation(std::vector<conduct> nodes)
      : run_(small_run("d-psgd", "complete", nodes.size())), system_(config_), self_(system_) {
    std::vector<std::uint32_t> homes;
    for (std::uint32_t k = 1; k <= nodes.size(); ++k)
      homes.push_back(k);
    node_setup setup;
    setup.run = run_;
    setup.rules = charter_of(*run_, static_cast<std::uint32_t>(nodes.size() + 1), homes, setup.patience);
    setup.last = founding_of(*run_, *setup.rules, {{0, {}}});
    setup.client.actor = self_;
    for (std::uint32_t k = 1; k <= nodes.size(); ++k) {
      const node_parts parts{run_, net_, homes, setup.rules, setup.last, k, nodes[k - 1]};
      nodes_.push_back(system_.spawn(node_with_one_worker, parts));
      setup.others.met.emplace(k, caf::actor_cast<node_interface::handle>(nodes_.back()));
    }
    setup.spawn.evaluator = [this, homes](const caf::actor& leader) {
      return spawn_evaluator_of(system_, {.run = run_, .net = net_, .homes = homes, .rules = {}, .first = {}}, leader);
    };
    leader_ = spawn_node(system_, std::move(setup));
    self_->send(leader_, start_run{});
  }
  ~final_evaluation() {
    caf::anon_send_exit(leader_, caf::exit_reason::kill);
    for (const auto& node : nodes_)
      caf::anon_send_exit(node, caf::exit_reason::kill);
  }

  std::variant<run_summary, run_failed> outcome() {
    std::variant<run_summary, run_failed> result;
    self_->receive([&](const run_summary& s) { result = s; }, [&](const run_failed& f) { result = f; });
    return result;
  }
  /// Returns the number of frames that have come to node k.
  std::size_t sent_to(std::uint32_t k) { return net_->sent_to(evaluating_life(nodes_.size(), k)); }

private:
  std::shared_ptr<const experiment> run_;
  std::shared_ptr<counting_transport> net_ = std::make_shared<counting_transport>();
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  std::vector<caf::actor> nodes_;
  caf::actor leader_;
};

/// Returns sqrt of the mean of (r - mean r)^2 in each of three elements.
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
