#include "gossamer/actors/hosting/evaluator.hpp"

#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/compute/stratified.hpp"
#include "gossamer/topology/islands.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr std::size_t most_training_samples = 10'000;

/// Returns the parts one behind the other.
vec joined(std::span<const owned_model> parts, buffer_pool pool) {
  if (parts.size() == 1)
    return parts[0].model;
  std::size_t size = 0;
  for (const auto& part : parts)
    size += part.model.size();
  vec whole{pool, size};
  auto to = whole.overwrite().begin();
  for (const auto& part : parts)
    to = std::ranges::copy(part.model.view(), to).out;
  return whole;
}

mean_place place_of(const evaluator_setup& s) {
  return {.node = s.node,
          .homes = s.homes.empty() ? std::vector<std::uint32_t>(s.run->participants()) : s.homes,
          .dimension = s.run->initial.size(),
          .pool = s.run->pool};
}

class evaluator {
public:
  explicit evaluator(evaluator_setup setup)
      : setup_(std::move(setup)),
        gathering_(place_of(setup_), [this](const frame& f, const std::string& why) { give_up(f, why); }) {}
  evaluator(const evaluator&) = delete;
  evaluator& operator=(const evaluator&) = delete;

  void begin(evaluate_models& m) {
    record_ = m.record;
    const bool is_root = setup_.node == m.what.root;
    if (setup_.run->masters > 0) // all parts of masters are at the root
      return is_root ? evaluate(m.what.number, joined(m.what.models, setup_.run->pool)) : void();
    gathering_.begin(std::move(m.what));
    hand_on();
  }

  void receive(const frame& f) {
    if (f.label.kind == frame_kind::snapshot)
      return pass_on_snapshot(f);
    gathering_.add(f);
    hand_on();
  }

private:
  void hand_on() {
    auto parts = gathering_.take();
    if (!parts)
      return;
    if (!gathering_.is_root())
      return send(to_frame(*parts, gathering_.number(), life_of(setup_.node), setup_.run->pool));
    const auto& all = parts->begin()->second;
    record_.consensus_distance = all.distance();
    evaluate(gathering_.number(), all.mean);
  }

  life life_of(std::uint32_t node) const { return evaluating_life(setup_.run->participants(), node); }

  void send(frame f) {
    const auto above = gathering_.above();
    auto& way = ways_[above];
    if (!way)
      way = setup_.net->link_to(f.source, life_of(above));
    way->send(std::move(f));
  }

  void evaluate(std::uint64_t number, const vec& x) {
    if (!model_)
      model_ = setup_.run->model_for(0);
    try {
      measure(x);
    } catch (const error& problem) {
      if (problem.code() != errc::device)
        throw;
      model_ = setup_.run->host.model->clone(); // the processor goes on when a GPU is lost
      measure(x);
    }
    caf::anon_send(setup_.supervisor, evaluated{number, record_});
  }

  void measure(const vec& x) {
    record_.train_loss = model_->evaluate(x.view(), {setup_.run->data.train, train_}).loss;
    const auto on_test = model_->evaluate(x.view(), {setup_.run->data.test, test_});
    record_.test_loss = on_test.loss;
    record_.test_accuracy = on_test.accuracy;
  }

  void pass_on_snapshot(const frame& f) {
    const auto& run = *setup_.run;
    try {
      if (f.source >= run.participants() || !run.is_master(f.source))
        throw error(errc::bad_packet, "nobody asks for its model", "");
      const auto sizes = topology::even_sizes(run.initial.size(), run.masters); // as `segment::part` has them
      caf::anon_send(setup_.supervisor, read_snapshot(f, sizes.at(f.source - run.settings.worker_ranks()), run.pool));
    } catch (const error& problem) {
      give_up(f, problem.sentence());
    }
  }

  void give_up(const frame& f, const std::string& why) {
    if (const auto node = node_of(f, setup_.run->participants()))
      return caf::anon_send(setup_.supervisor, node_lost{*node, why});
    spdlog::error(fmt::format("{}: {}; it is given up", setup_.run->name_of(f.source), why));
    caf::anon_send(setup_.supervisor, worker_lost{f.source, f.incarnation});
  }

  evaluator_setup setup_;
  mean_gathering gathering_;
  std::map<std::uint32_t, std::unique_ptr<link>> ways_;
  evaluation_record record_;              // that of the evaluation that is under way
  std::unique_ptr<compute::model> model_; // made when it is needed first, in the thread that uses it
  std::vector<std::uint32_t> train_ = compute::stratified_sample(setup_.run->data.train.samples, most_training_samples);
  std::vector<std::uint32_t> test_ =
      compute::stratified_sample(setup_.run->data.test.samples, setup_.run->data.test.samples);
};

caf::behavior evaluator_actor(caf::stateful_actor<std::optional<evaluator>>* self, const evaluator_setup& setup) {
  report_exceptions_to(self, setup.supervisor, "the evaluation");
  auto& state = self->state.emplace(setup);
  return {[&state](evaluate_models& m) { state.begin(m); }, [&state](const frame& f) { state.receive(f); }};
}

} // namespace

caf::actor spawn_evaluator(caf::actor_system& system, evaluator_setup setup) {
  return setup.own_thread ? system.spawn<caf::detached>(evaluator_actor, std::move(setup))
                          : system.spawn(evaluator_actor, std::move(setup));
}

} // namespace gossamer::actors
