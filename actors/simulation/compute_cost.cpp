#include "gossamer/actors/simulation/compute_cost.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::actors {

namespace {

void require(bool holds, std::string sentence, std::string remedy) {
  if (!holds)
    throw error(errc::usage, std::move(sentence), std::move(remedy));
}

} // namespace

compute_cost::compute_cost(compute_settings settings, std::uint64_t seed)
    : settings_(std::move(settings)), seed_(seed), jitter_(make_compute_jitter(settings_.jitter)) {
  const auto seconds = settings_.seconds_per_sample;
  require(seconds >= 0 && std::isfinite(seconds), fmt::format("a sample cannot take {} seconds", seconds),
          "allowed: a number, at least 0");
  for (const auto& [worker, factor] : settings_.slow)
    require(factor > 0 && std::isfinite(factor), fmt::format("worker {} cannot be {} times slower", worker, factor),
            "allowed: a number above 0");
}

virtual_time compute_cost::of(rank worker, std::uint64_t step, double slow_down) const {
  GOSSAMER_ASSERT(slow_down >= 0, "time does not run backwards");
  const auto slow = settings_.slow.find(worker);
  const auto measured = settings_.measured.find(worker);
  random_sequence draws{random_stream{seed_, worker, purpose::timing}, step};
  return from_seconds((measured == settings_.measured.end() ? settings_.seconds_per_sample : measured->second)
                      * static_cast<double>(settings_.batch) * (slow == settings_.slow.end() ? 1 : slow->second)
                      * slow_down * jitter_->factor(draws));
}

} // namespace gossamer::actors
