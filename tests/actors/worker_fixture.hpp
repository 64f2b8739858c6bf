#pragma once

#include "gossamer/actors/worker/hosted_worker.hpp"

#include <gmock/gmock.h>

namespace gossamer::testing_support {

using actors::frame;
using actors::frame_kind;
using actors::hosted_worker;
using actors::rank;
using actors::tag;
using actors::task;
using actors::view;
using actors::worker;

inline constexpr auto nothing = std::nullopt;
inline constexpr auto life_0 = std::optional<std::uint32_t>{0}, life_1 = std::optional<std::uint32_t>{1};

/// The result of a wait for a model: its step, its sender and the sender's life, or nothing.
struct heard_model {
  std::uint64_t step;
  rank from;
  std::optional<std::uint32_t> life;

  friend bool operator==(const heard_model&, const heard_model&) = default;
  friend void PrintTo(const heard_model& h, std::ostream* out) {
    *out << "step " << h.step << " from " << h.from << ": " << (h.life ? "life " + std::to_string(*h.life) : "nothing");
  }
};

/// Sends to all neighbours and hears all neighbours in each step. Its model is the number of its steps.
class gossip final : public actors::algorithm {
public:
  /// @param repeats repeats a round when its view is over, like all_reduce
  explicit gossip(bool repeats = false) : repeats_(repeats) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      bool complete = false;
      while (!complete)
        complete = co_await round(w);
      x_.mutate()[0] += 1;
    }
  }
  void fields(archive& a) override { a(x_)(t_); }
  void reunite(const vec& former) override { learnt.push_back(former[0]); }
  const vec& model() const override { return x_; }

  std::vector<heard_model> heard;
  std::vector<float> learnt; ///< models of former lives

private:
  task<bool> round(worker& w) {
    const tag label{frame_kind::model, t_, 0, repeats_ ? w.present().number : 0};
    w.send_to_neighbours(label, {});
    const std::vector<rank> neighbours{w.neighbours().begin(), w.neighbours().end()};
    for (const auto j : neighbours) {
      const auto received = co_await w.receive(j, label);
      heard.push_back({t_, j, received ? std::optional{received->incarnation} : std::nullopt});
      if (!received && repeats_)
        co_return false;
    }
    co_return true;
  }

  bool repeats_;
  buffer_pool pool_;
  vec x_{pool_, 1};
  std::uint64_t t_ = 0;
};

struct recording_host final : actors::worker_host {
  void compute(actors::gradient_job) override {}
  void report(actors::step_report) override {}
  void report(actors::snapshot) override {}
  void send(rank to, frame f) override { frames.emplace_back(to, std::move(f)); }
  actors::traffic sent() const override { return {}; }
  std::chrono::nanoseconds now() const override { return {}; }
  void wake_at(std::chrono::nanoseconds) override {}
  void joined(std::uint64_t step) override { joined_at.push_back(step); }

  std::vector<std::pair<rank, frame>> frames;
  std::vector<std::uint64_t> joined_at;
};

/// Counts the waits that have begun and not ended.
struct counting_witness final : actors::witness {
  void wait_begins(rank, rank, const tag&) override { ++waits; }
  void wait_ends(rank, rank) override { --waits; }
  int waits = 0;
};

using lives = std::vector<std::optional<std::uint32_t>>;

/// Returns a view in which all members are neighbours of each other.
inline std::shared_ptr<const view> view_of(std::uint32_t number, std::uint64_t first_step, lives incarnations,
                                           std::map<rank, rank> donors = {}) {
  view v;
  v.number = number;
  v.first_step = first_step;
  std::vector<topology::graph::edge> edges;
  for (rank i = 0; i < incarnations.size(); ++i) {
    if (!incarnations[i])
      continue;
    for (const auto j : v.members)
      edges.emplace_back(j, i);
    v.members.push_back(i);
  }
  v.mixing = std::make_shared<const topology::mixing_matrix>(
      topology::mixing_matrix::metropolis(topology::graph{incarnations.size(), edges}));
  v.active.assign(incarnations.size(), true);
  v.incarnations = std::move(incarnations);
  v.donors = std::move(donors);
  return std::make_shared<const view>(std::move(v));
}

/// One of three workers that are neighbours of each other.
struct worker_fixture {
  explicit worker_fixture(rank id = 0, std::uint32_t incarnation = 0, bool repeats = false, bool synchronous = true,
                          std::vector<std::byte> learnt = {})
      : program(repeats),
        w(settings(id, incarnation, synchronous, std::move(learnt)), compute::make_optimiser("sgd"), host) {
    w.run(program);
  }

  actors::worker_settings settings(rank id, std::uint32_t incarnation, bool synchronous,
                                   std::vector<std::byte> learnt = {}) {
    actors::worker_settings s;
    if (!learnt.empty())
      s.place.learnt = std::make_shared<const std::vector<std::byte>>(std::move(learnt));
    s.place.id = id;
    s.place.incarnation = incarnation;
    s.place.workers = s.place.ranks = 3;
    if (incarnation == 0)
      s.place.everybody = view_of(1, 0, {0, 0, 0});
    s.training.synchronous = synchronous;
    s.training.step_limit = 100;
    s.packing.codec = compress::make_codec("identity");
    s.training.schedule = compute::make_schedule("constant");
    s.witness = &seen;
    return s;
  }

  void model_from(rank source, std::uint64_t step, std::uint32_t incarnation = 0, std::uint32_t view = 0) {
    w.deliver({.source = source, .incarnation = incarnation, .label = {frame_kind::model, step, 0, view}, .body = {}});
  }
  /// Returns a state with model `x` and step t.
  static std::vector<std::byte> state_of(std::uint64_t t, float x) {
    archive_writer state;
    buffer_pool pool;
    vec model{pool, std::vector{x}};
    std::uint64_t encodings = 0;
    state(model)(t)(encodings);
    return state.bytes();
  }
  void state_from(rank source, std::uint64_t t, std::uint32_t view, float x) {
    const auto state = state_of(t, x);
    compress::packet body;
    body.payload = pool.allocate(state.size());
    std::ranges::copy(state, body.payload.data());
    body.bits = 8 * state.size();
    w.deliver({.source = source, .label = {frame_kind::state, t, 0, view}, .body = std::move(body)});
  }

  /// Returns the steps of the frames of one kind that were sent to a peer.
  std::vector<std::uint64_t> sent_to(rank peer, frame_kind kind = frame_kind::model) const {
    std::vector<std::uint64_t> steps;
    for (const auto& [to, f] : host.frames)
      if (to == peer && f.label.kind == kind)
        steps.push_back(f.label.step);
    return steps;
  }

  buffer_pool pool;
  counting_witness seen;
  recording_host host;
  gossip program;
  hosted_worker w; // last: its coroutine refers to the rest
};

} // namespace gossamer::testing_support
