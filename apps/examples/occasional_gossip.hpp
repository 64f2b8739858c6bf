#pragma once

// Local SGD whose workers average with their neighbours only every so many steps. occasional_gossip.cpp makes a command
// with it, occasional_gossip_laws.cpp tries the laws on it.
#include "gossamer/actors/collectives/neighbour_exchange.hpp"

namespace own {

using gossamer::archive;
using gossamer::parameter;
using gossamer::vec;
using gossamer::actors::algorithm;
using gossamer::actors::algorithm_entry;
using gossamer::actors::algorithm_setup;
using gossamer::actors::exchange_pattern;
using gossamer::actors::task;
using gossamer::actors::worker;

// snippet algorithm begin
class occasional_gossip final : public algorithm {
public:
  occasional_gossip(vec initial, std::uint64_t period) : x_(std::move(initial)), period_(period) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      if ((t_ + 1) % period_ == 0)
        x_ = co_await neighbour_exchange(w, x_, t_);
    }
  }

  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  std::uint64_t t_ = 0;
  std::uint64_t period_;
};

inline algorithm_entry entry() {
  return {
      .about = {.name = "occasional-gossip",
                .summary = "averages with the neighbours every so many steps",
                .parameters = {{.key = "period",
                                .kind = parameter::type::integer,
                                .fallback = "4",
                                .meaning = "in steps",
                                .min = 1}}},
      .traits = {.exchange = exchange_pattern::neighbours,
                 .synchronous = true,
                 .promises = {.lossy_codecs_move_mean = true}},
      .make = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
        return std::make_unique<occasional_gossip>(s.initial, static_cast<std::uint64_t>(s.given.integer("period")));
      },
  };
}
// snippet algorithm end

} // namespace own
