#pragma once

#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/base/philox.hpp"

#include <array>
#include <atomic>

namespace gossamer::testing_support {

/// An asynchronous algorithm without waits: after each gradient a worker sends its model to a random neighbour, which
/// averages it with its own. It counts, for all its workers together, the models that have not been heard yet.
class push_gossip final : public actors::algorithm {
public:
  /// @param skips leaves out a neighbour without room
  push_gossip(vec initial, bool skips) : x_(std::move(initial)), skips_(skips) {}

  actors::task<> run(actors::worker& w) override {
    w.serve(hear(w));
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      push(w);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

  /// Returns the most models that were under way from one worker to another at any time since `count_anew`.
  static std::int64_t most_under_way() { return most_; }
  static void count_anew() {
    most_ = 0;
    for (auto& link : links_)
      link = 0;
  }

private:
  static constexpr auto kind = actors::frame_kind{200};
  static constexpr std::size_t most_workers = 16;

  static std::atomic<std::int64_t>& link(actors::rank from, actors::rank to) {
    return links_.at(from * most_workers + to);
  }

  void push(actors::worker& w) {
    const auto all = w.neighbours();
    if (all.empty())
      return;
    random_sequence draw{w.random(purpose::neighbour), t_};
    const auto j = all[draw.below(static_cast<std::uint32_t>(all.size()))];
    if (skips_ && !w.has_room(j))
      return;
    const auto now = ++link(w.id(), j);
    for (auto most = most_.load(); now > most && !most_.compare_exchange_weak(most, now);) {
    }
    w.send(j, {kind, t_}, w.encode(x_));
  }

  actors::task<> hear(actors::worker& w) {
    for (;;) {
      const auto f = co_await w.receive_any(kind);
      --link(f.source, w.id());
      x_ += w.decode(f.body);
      x_ *= 0.5f;
    }
  }

  inline static std::array<std::atomic<std::int64_t>, most_workers * most_workers> links_{};
  inline static std::atomic<std::int64_t> most_{0};

  vec x_;
  std::uint64_t t_ = 0;
  bool skips_;
};

/// Returns a table of the algorithm above: `push-gossip`, and `polite-gossip`, which skips.
inline const registry<actors::algorithm_entry>& push_gossips() {
  static const std::array entries{
      actors::algorithm_entry{.about = {.name = "push-gossip", .summary = "sends without waiting"},
                              .traits = {.synchronous = false},
                              .make = [](const actors::algorithm_setup& s) -> std::unique_ptr<actors::algorithm> {
                                return std::make_unique<push_gossip>(s.initial, false);
                              }},
      actors::algorithm_entry{.about = {.name = "polite-gossip", .summary = "leaves out who is slow"},
                              .traits = {.synchronous = false},
                              .make = [](const actors::algorithm_setup& s) -> std::unique_ptr<actors::algorithm> {
                                return std::make_unique<push_gossip>(s.initial, true);
                              }}};
  static const registry<actors::algorithm_entry> table{"algorithm", entries};
  return table;
}

} // namespace gossamer::testing_support
