// The cost of the actor runtime: messages between two actors, gradients through a compute actor, a ring all-reduce.
#include "gossamer/actors/real_time/local_world.hpp"

#include <benchmark/benchmark.h>
#include <caf/all.hpp>

#include <cstring>

namespace {

using namespace gossamer;
using namespace gossamer::actors;

struct ball {
  frame f;
  int left;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(ball)

namespace {

caf::behavior player(caf::event_based_actor* self) {
  return {[self](ball& b) {
    if (--b.left > 0)
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), std::move(b));
    else
      self->quit();
  }};
}

/// Sends frames with a model of so many floats to and fro between two actors; nothing is copied.
void frame_ping_pong(benchmark::State& state) {
  constexpr int messages = 10'001; // odd: the first receiver also gets the last
  buffer_pool pool;
  const vec model{pool, static_cast<std::size_t>(state.range(0))};
  const auto body = compress::make_codec("identity")->encode(model, random_stream{1, 0, purpose::quantise}, 0);
  for (auto _ : state) {
    caf::actor_system_config config;
    config.set("scheduler.policy", caf::atom("sharing"));
    caf::actor_system system{config};
    const auto a = system.spawn(player), b = system.spawn(player);
    caf::send_as(a, b, ball{{.source = 0, .label = {frame_kind::model}, .body = body}, messages});
    caf::scoped_actor self{system};
    self->wait_for(b);
    caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
  }
  state.SetItemsProcessed(state.iterations() * messages);
}
BENCHMARK(frame_ping_pong)->Arg(0)->Arg(1 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Whole runs of all-reduce SGD whose gradients cost next to nothing, so that mostly the collective is measured.
void ring_all_reduce_of_4(benchmark::State& state) {
  constexpr std::uint64_t steps = 50;
  run_settings s;
  s.algorithm = "all-reduce-sgd";
  s.data = "quadratic:samples=4,dim=" + std::to_string(state.range(0));
  s.model = "quadratic";
  s.batch = 1;
  s.optimiser = "sgd";
  s.steps = steps;
  s.eval_every = 1e9;
  const auto e = prepare(s);
  for (auto _ : state)
    run_locally(e);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(steps));
  state.SetBytesProcessed(state.items_processed() * 4 * state.range(0));
}
BENCHMARK(ring_all_reduce_of_4)->Arg(1 << 10)->Arg(1 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

/// The reference for the bytes above: one thread, no messages.
void memcpy_reference(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) * 4;
  std::vector<char> from(bytes, 1), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 4 * state.range(0));
}
BENCHMARK(memcpy_reference)->Arg(1 << 20)->UseRealTime();

} // namespace
