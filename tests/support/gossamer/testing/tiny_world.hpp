#pragma once

#include "gossamer/actors/frames/label_text.hpp"
#include "gossamer/actors/worker/hosted_worker.hpp"
#include "gossamer/actors/worker/name_of.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/topology/bipartition.hpp"
#include "gossamer/topology/islands.hpp"
#include "gossamer/topology/mixing.hpp"
#include "gossamer/topology/overlay.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>

namespace gossamer::testing_support {

/// All workers in one thread, without actors. An event is the delivery of one frame or of one gradient, and a seeded
/// generator picks the next of the possible events. Frames between one pair keep their order; everything else may
/// overtake everything else. Time goes on with each event, and when none is possible but the end of a pause. The same
/// seed gives the same run.
class tiny_world {
  struct flat_model final : compute::model {
    std::size_t dimension() const override { return 0; }
    void initial_point(std::span<float>, const random_stream&) const override {}
    double loss_and_gradient(std::span<const float>, const compute::batch&, std::span<float>) override { return 0; }
    compute::evaluation evaluate(std::span<const float>, const compute::batch&) override { return {}; }
    std::unique_ptr<compute::model> clone() const override { return std::make_unique<flat_model>(); }
  };

public:
  using gradient_of = std::function<vec(actors::rank, std::uint64_t step, const vec& x)>;
  using answer_of = std::function<vec(actors::rank, const actors::gradient_job&)>;
  using make_algorithm = std::function<std::unique_ptr<actors::algorithm>(actors::rank)>;

  struct options {
    std::string topology = "ring";
    std::string codec = "identity";
    registry<compress::codec_entry> codecs = compress::codecs(); ///< those that `codec` and packets may name
    std::string optimiser = "sgd";
    std::size_t workers = 4;
    std::vector<std::size_t> islands = {}; ///< their sizes; empty: none
    std::size_t masters = 0;               ///< their ranks follow those of the workers
    bool synchronous = true;
    actors::interrupted_round on_loss = actors::interrupted_round::repeat; ///< as the algorithm's trait says
    bool equal_steps = false; ///< asynchronous workers all do the same number of steps
    std::uint64_t steps = 10; ///< steps of each worker; on average, if asynchronous
    double lr = 0.1;
    std::string schedule = "constant";
    std::uint64_t seed = 1;
    std::uint64_t timing = 0;                                           ///< another value: another order of events
    std::chrono::nanoseconds event_time = std::chrono::milliseconds{1}; ///< from each event to the next
    std::size_t samples = 0; ///< samples of the training set; 0: one for each worker
    double updates_per_epoch = 1;
    std::shared_ptr<const compute::model> model = std::make_shared<flat_model>(); ///< for the proximal step of workers
    std::uint64_t keep_states_at = 0; ///< step at whose beginning the states of workers and masters are kept
    std::uint64_t rest_at = 0; ///< step before which all wait until nothing is under way, and states are kept, too
    std::map<actors::rank, std::shared_ptr<const std::vector<std::byte>>> saved = {}; ///< first states,
    std::uint64_t done = 0; ///< reached after this number of updates
    std::function<void(actors::rank to, const actors::frame&)> on_send = {}, on_delivery = {};
    std::function<void(actors::rank at, std::uint64_t staleness)> on_gradient_applied = {};
  };

  /// Makes a world in which sample i is the function whose gradient worker i computes.
  tiny_world(const options& o, const make_algorithm& make, gradient_of gradient)
      : tiny_world(o, make, answer_of([g = std::move(gradient)](actors::rank i, const actors::gradient_job& job) {
                     return from_functions(g, i, job);
                   })) {}
  /// Makes a world in which gradients are not of one sample per worker.
  tiny_world(const options& o, const make_algorithm& make, answer_of answer)
      : options_(o), graph_(graph_of(o)), answer_(std::move(answer)), choice_(first_choice(o)), updates_(o.done) {
    std::vector<bool> active(o.workers, true);
    if (!o.synchronous && o.masters == 0)
      for (const auto i : topology::split(graph_).passive)
        active[i] = false;
    everybody_ = actors::first_view(
        std::make_shared<const topology::mixing_matrix>(topology::make_mixing("auto", graph_)), active, o.masters);
    for (actors::rank i = 0; i < o.workers + o.masters; ++i)
      nodes_.push_back(std::make_unique<node>(*this, i, settings_of(i), make(i)));
  }

  /// Runs until no event is possible.
  /// @returns true if all workers have finished
  bool run() {
    for (auto& n : nodes_)
      n->w.run(*n->program);
    if (options_.rest_at > 0)
      rest();
    while (step()) {
    }
    return std::ranges::all_of(nodes_, [](auto& n) { return n->w.finished(); });
  }

  /// Says of each worker and master that has not finished what it waits for.
  std::string who_waits() const {
    std::string text;
    for (const auto& n : nodes_) {
      const auto who = actors::name_of(n->id, options_.workers);
      for (const auto* wait : n->w.waits())
        text += who + " waits for " + actors::label_text(wait->label()) + " of "
                + (wait->from() ? actors::name_of(*wait->from(), options_.workers) : "anybody") + '\n';
      if (n->w.waits().empty() && !n->w.finished())
        text += who + " waits for no frame, and has not finished\n";
    }
    return text;
  }

  /// Returns a hash of the order of events. It differs wherever orders differ, but for chance.
  std::uint64_t order() const noexcept { return order_; }

  /// Returns the present states of workers and masters.
  auto states() {
    for (actors::rank i = 0; i < nodes_.size(); ++i)
      keep(i);
    return kept_;
  }
  /// Returns the states of `options::keep_states_at` or `rest_at`: none if there is always something under way.
  const auto& kept_states() const { return kept_; }
  std::uint64_t updates_at_rest() const noexcept { return updates_at_rest_; }

  actors::hosted_worker& worker(actors::rank i) { return nodes_[i]->w; }
  const vec& model(actors::rank i) const { return nodes_[i]->program->model(); }
  actors::traffic sent(actors::rank i) const { return nodes_[i]->sent(); }
  std::size_t frames_from_to(actors::rank from, actors::rank to) const {
    const auto found = nodes_[from]->sent_to.find(to);
    return found == nodes_[from]->sent_to.end() ? 0 : found->second.frames;
  }

  /// Returns sum_i x_i in double precision.
  std::vector<double> sum_of_models() const {
    std::vector<double> sum(model(0).size());
    for (actors::rank i = 0; i < nodes_.size(); ++i)
      for (std::size_t k = 0; k < sum.size() && i < options_.workers; ++k)
        sum[k] += static_cast<double>(model(i)[k]);
    return sum;
  }

private:
  static constexpr std::size_t most_events_before_rest = 100'000;

  static random_sequence first_choice(const options& o) {
    return {random_stream{o.seed, 0, purpose::neighbour}, (1u << 20) + o.timing};
  }

  static topology::graph graph_of(const options& o) {
    auto all = topology::make_topology(o.topology, o.workers, 1);
    if (o.islands.empty())
      return all;
    std::vector<actors::rank> members(o.workers);
    std::iota(members.begin(), members.end(), actors::rank{0});
    std::vector<bool> present(o.workers);
    for (const auto i : topology::islands{o.islands}.heads(members))
      present[i] = true;
    return topology::overlay{std::move(all)}.among(std::move(present)).current();
  }

  struct keeper final : actors::witness {
    explicit keeper(tiny_world& w) : world(w) {}
    void step_begins(actors::rank who, std::uint64_t t, const actors::view&) override {
      world.nodes_[who]->next_step = t + 1;
      if (t == 0 || t != world.options_.keep_states_at)
        return;
      world.keep(who);
      for (std::size_t k = 0; k < world.options_.masters; ++k)
        world.keep(static_cast<actors::rank>(world.options_.workers + k));
    }
    tiny_world& world;
  };

  /// Goes on until nothing is under way, all workers waiting before one step. From there on, events have the order of a
  /// world that begins with the states of this moment.
  void rest() {
    resting_ = true;
    bool rests = false;
    for (std::size_t k = 0; k < most_events_before_rest && !rests; ++k)
      rests = !step();
    resting_ = false;
    for (actors::rank i = 0; i < options_.workers; ++i)
      rests = rests && nodes_[i]->next_step == options_.rest_at;
    if (rests)
      states();
    updates_at_rest_ = updates_;
    choice_ = first_choice(options_);
    for (auto& n : nodes_)
      n->w.more_room();
  }

  void keep(actors::rank i) { kept_[i] = std::make_shared<const std::vector<std::byte>>(nodes_[i]->w.state()); }

  struct node final : actors::worker_host {
    node(tiny_world& world_, actors::rank i, actors::worker_settings settings, std::unique_ptr<actors::algorithm> a)
        : world(world_), id(i), program(std::move(a)),
          w(std::move(settings), compute::make_optimiser(world_.options_.optimiser), *this) {}

    void compute(actors::gradient_job j) override { job = std::move(j); }
    void report(actors::step_report) override {}
    void report(actors::snapshot) override {}
    void gradient_applied(std::uint64_t staleness) override {
      if (world.options_.on_gradient_applied)
        world.options_.on_gradient_applied(id, staleness);
    }
    void send(actors::rank to, actors::frame f) override {
      if (world.options_.on_send)
        world.options_.on_send(to, f);
      sent_to[to].count(f);
      world.queues_[{id, to}].push_back(std::move(f));
    }
    bool has_room(std::optional<actors::rank> to) const override {
      return to || !world.resting_ || next_step < world.options_.rest_at;
    }
    std::chrono::nanoseconds now() const override { return world.now_; }
    void wake_at(std::chrono::nanoseconds time) override { alarms.push_back(time); }
    actors::traffic sent() const override {
      actors::traffic total;
      for (const auto& [peer, one] : sent_to)
        total += one;
      return total;
    }

    tiny_world& world;
    actors::rank id;
    std::unique_ptr<actors::algorithm> program;
    std::map<actors::rank, actors::traffic> sent_to;
    std::optional<actors::gradient_job> job;
    std::vector<std::chrono::nanoseconds> alarms;
    std::uint64_t next_step = 0;
    actors::hosted_worker w; // last: its coroutines refer to the rest
  };

  actors::worker_settings settings_of(actors::rank i) {
    actors::worker_settings s;
    s.place.id = i;
    if (const auto found = options_.saved.find(i); found != options_.saved.end())
      s.place.saved = found->second;
    if (options_.keep_states_at > 0 || options_.rest_at > 0)
      s.witness = &keeper_;
    s.place.workers = s.place.ranks = options_.workers;
    s.place.masters = options_.masters;
    s.place.islands = topology::islands{options_.islands};
    s.training.samples = options_.samples > 0 ? options_.samples : options_.workers;
    s.training.updates_per_epoch = options_.updates_per_epoch;
    s.place.everybody = everybody_;
    s.training.synchronous = options_.synchronous;
    s.training.on_loss = options_.on_loss;
    s.training.seed = options_.seed;
    s.training.step_limit =
        options_.synchronous || options_.equal_steps ? options_.steps : options_.steps * options_.workers;
    s.training.lr = options_.lr;
    s.packing.codec = compress::make_codec(options_.codec, {}, options_.codecs);
    s.packing.coder = std::make_shared<const compress::coder>(options_.codecs);
    s.packing.exact = s.packing.codec->can().exact;
    s.training.schedule = compute::make_schedule(options_.schedule);
    s.training.planned_epochs = static_cast<double>(options_.steps * options_.workers) / options_.updates_per_epoch;
    s.training.model = options_.model;
    return s;
  }

  static vec from_functions(const gradient_of& gradient, actors::rank i, const actors::gradient_job& job) {
    using enum actors::gradient_job::kind;
    if (job.what == full_part)
      return gradient(job.part, job.step, job.x);
    auto g = gradient(i, job.step, job.x);
    if (job.what == difference)
      g -= gradient(i, job.step, job.anchor);
    return g;
  }

  bool step() {
    std::vector<std::function<void()>> events;
    for (auto& [ends, queue] : queues_)
      if (!queue.empty())
        events.emplace_back([this, to = ends.second, &queue = queue] {
          auto f = std::move(queue.front());
          queue.pop_front();
          if (options_.on_delivery)
            options_.on_delivery(to, f);
          nodes_[to]->w.deliver(std::move(f));
        });
    for (auto& n : nodes_)
      if (n->job)
        events.emplace_back([this, n = n.get()] {
          const auto job = *std::exchange(n->job, std::nullopt);
          const bool update = job.what != actors::gradient_job::kind::full_part;
          n->w.gradient_arrived({job.step, answer_(n->id, job), 0.0, update});
          if (!options_.synchronous && update && ++updates_ == options_.steps * options_.workers)
            for (auto& other : nodes_)
              other->w.proceed(0);
        });
    if (events.empty() && !pass_time())
      return false;
    for (auto& n : nodes_)
      if (std::ranges::any_of(n->alarms, [this](auto due) { return due <= now_; }))
        events.emplace_back([n = n.get(), now = now_] {
          std::erase_if(n->alarms, [now](auto due) { return due <= now; });
          n->w.wake();
        });
    now_ += options_.event_time;
    const auto next = choice_.below(static_cast<std::uint32_t>(events.size()));
    order_ = (order_ ^ (next + 1)) * 0x9E3779B97F4A7C15u;
    order_ ^= order_ >> 32;
    events[next]();
    for (auto& n : nodes_)
      n->w.finished(); // rethrows the exception that ended a coroutine
    return true;
  }

  /// Lets time pass until the first pause is over. @returns false if there is none
  bool pass_time() {
    std::optional<std::chrono::nanoseconds> first;
    for (const auto& n : nodes_)
      for (const auto due : n->alarms)
        first = std::min(first.value_or(due), due);
    now_ = std::max(now_, first.value_or(now_));
    return first.has_value();
  }

  options options_;
  topology::graph graph_;
  std::shared_ptr<const actors::view> everybody_;
  answer_of answer_;
  random_sequence choice_;
  std::uint64_t updates_, updates_at_rest_ = 0;
  bool resting_ = false;
  std::uint64_t order_ = 0;
  std::chrono::nanoseconds now_{0};
  keeper keeper_{*this};
  std::map<actors::rank, std::shared_ptr<const std::vector<std::byte>>> kept_;
  std::map<std::pair<actors::rank, actors::rank>, std::deque<actors::frame>> queues_;
  std::vector<std::unique_ptr<node>> nodes_;
};

} // namespace gossamer::testing_support
