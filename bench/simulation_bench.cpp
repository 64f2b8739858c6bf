// The cost of the simulated world: small messages a second, beside CAF's own virtual time; and real gradients, beside
// the same gradients without a simulator.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/actors/run/gradient_source.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <benchmark/benchmark.h>
#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

namespace {

using namespace gossamer;
using namespace gossamer::actors;

caf::behavior echo(caf::event_based_actor* self) {
  return {[self](const caf::actor& to, int left) {
    if (left > 0)
      self->delayed_send(to, std::chrono::microseconds(100), caf::actor_cast<caf::actor>(self), left - 1);
  }};
}

/// The reference: messages with a delay between 1,000 actors, by CAF alone.
void caf_virtual_time_reference(benchmark::State& state) {
  constexpr int actors = 1000, messages = 200;
  for (auto _ : state) {
    caf::actor_system_config config;
    config.set("scheduler.policy", caf::atom("testing"));
    caf::actor_system system{config};
    auto& scheduler = dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
    std::vector<caf::actor> all;
    for (int i = 0; i < actors; ++i)
      all.push_back(system.spawn(echo));
    for (int i = 0; i < actors; ++i)
      caf::anon_send(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>((i + 1) % actors)], messages);
    do {
      scheduler.run();
    } while (scheduler.trigger_timeout());
    for (const auto& one : all)
      caf::anon_send_exit(one, caf::exit_reason::kill);
    scheduler.run();
  }
  state.SetItemsProcessed(state.iterations() * actors * messages);
}
BENCHMARK(caf_virtual_time_reference)->Unit(benchmark::kMillisecond);

std::shared_ptr<const experiment> gossip(std::size_t workers, std::uint64_t steps) {
  run_settings s;
  s.algorithm = "d-psgd";
  s.data = "quadratic:samples=2000,dim=10";
  s.model = "quadratic";
  s.workers = workers;
  s.batch = 1;
  s.optimiser = "sgd";
  s.steps = steps;
  s.eval_every = 1e9;
  return prepare(s);
}

/// Frames of a gossip on a ring, each with its way through network cards, its inbox, a coroutine and the auditor.
void simulated_gossip(benchmark::State& state) {
  const auto workers = static_cast<std::size_t>(state.range(0));
  const std::uint64_t steps = 200'000 / workers;
  const auto e = gossip(workers, steps);
  simulation_settings s;
  s.check = state.range(1) != 0;
  for (auto _ : state)
    simulate(e, s);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * workers * steps));
}
BENCHMARK(simulated_gossip)->Args({1000, 1})->Args({1000, 0})->Args({2000, 1})->Unit(benchmark::kMillisecond);

std::shared_ptr<const experiment> network_training(std::uint64_t steps) {
  run_settings s;
  s.algorithm = "ad-psgd";
  s.model = "mlp:hidden=100";
  s.data = "digits:samples=4000,test=100";
  s.workers = 8;
  s.steps = steps;
  s.eval_every = 1e9;
  return prepare(s);
}

template <class World>
void train(benchmark::State& state, World world) {
  constexpr std::uint64_t steps = 250;
  const auto e = network_training(steps);
  std::int64_t gradients = 0;
  for (auto _ : state)
    gradients += static_cast<std::int64_t>(world(e).final.step);
  state.SetItemsProcessed(gradients);
}

/// The reference: gradients of an MLP 784-100-10, updates and averages of AD-PSGD in real threads, in processor time of
/// all of them.
void gradients_in_local_world_reference(benchmark::State& state) {
  train(state, [](const auto& e) { return run_locally(e); });
}
BENCHMARK(gradients_in_local_world_reference)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void gradients_in_simulated_world(benchmark::State& state) {
  train(state, [](const auto& e) { return simulate(e, {}).summary; });
}
BENCHMARK(gradients_in_simulated_world)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

} // namespace
