#include "gossamer/actors/run/gradient_source.hpp"
#include "gossamer/actors/run/thread_time.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr int repetitions = 20;

} // namespace

double measure_sample_time(const experiment& e) {
  gradient_source source{std::make_shared<const experiment>(e), 0, 0};
  auto least = std::chrono::duration<double>::max();
  for (std::uint64_t step = 0; step < repetitions; ++step) {
    const auto began = thread_time();
    source.compute({.step = step, .x = e.initial});
    least = std::min(least, thread_time() - began);
  }
  return least.count() / static_cast<double>(e.settings.batch);
}

} // namespace gossamer::actors
