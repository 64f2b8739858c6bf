// An algorithm that Gossamer does not know, trained by the installed library: local SGD whose
// workers average with their neighbours only every so many steps.
#include "gossamer/actors/collectives/neighbour_exchange.hpp"
#include "gossamer/actors/runtime/local_world.hpp"
#include "gossamer/base/error.hpp"

#include <array>
#include <cstdio>

namespace {

using namespace gossamer;
using namespace gossamer::actors;

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

const algorithm_entry entry{
    .about = {.name = "occasional-gossip",
              .summary = "averages with the neighbours every so many steps",
              .parameters = {{.key = "period",
                              .kind = parameter::type::integer,
                              .fallback = "4",
                              .meaning = "in steps",
                              .min = 1}}},
    .traits = {.exchange = exchange_pattern::neighbours, .synchronous = true},
    .make = [](const arguments& given, vec initial) -> std::unique_ptr<algorithm> {
      return std::make_unique<occasional_gossip>(std::move(initial),
                                                 static_cast<std::uint64_t>(given.integer("period")));
    },
};
// snippet algorithm end

// snippet registry begin
const std::array entries{entry};
const registry<algorithm_entry> own_algorithms{"algorithm", entries};
// snippet registry end

} // namespace

int main() {
  try {
    // snippet run begin
    const auto e = prepare({.algorithm = "occasional-gossip:period=3",
                            .topology = "exponential",
                            .codec = "uniform:bits=8",
                            .model = "softmax",
                            .data = "digits:samples=1000,test=200",
                            .epochs = 6},
                           own_algorithms);
    const auto s = run_locally(e);
    // snippet run end
    std::printf("%s: test accuracy %.3f after %llu gradients, %llu payload bits\n", s.algorithm.c_str(),
                s.final.test_accuracy.value_or(0), static_cast<unsigned long long>(s.final.step),
                static_cast<unsigned long long>(s.final.payload_bits));
    const bool talked = s.final.payload_bits > 0 && s.final.consensus_distance > 0;
    return talked && s.final.test_accuracy.value_or(0) > 0.5 ? 0 : 1;
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
