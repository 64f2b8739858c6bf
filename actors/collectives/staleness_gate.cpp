#include "gossamer/actors/collectives/staleness_gate.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr std::int64_t unbounded = 1'000'000'000;

} // namespace

staleness_gate::staleness_gate(const arguments& given)
    : bound_(static_cast<std::uint64_t>(given.integer("staleness"))) {}

bool staleness_gate::admits(std::uint64_t updates) const {
  const auto fits = [&](const auto& read) { return updates - read.second + reads_.size() <= bound_; };
  return reads_.size() <= bound_ && std::ranges::all_of(reads_, fits);
}

std::uint64_t staleness_gate::applies(rank who, std::uint64_t updates) {
  GOSSAMER_ASSERT(has_read(who), "a gradient is of a model that was read");
  return updates - reads_.extract(who).mapped();
}

parameter staleness_parameter() {
  return {.key = "staleness",
          .kind = parameter::type::integer,
          .fallback = std::to_string(unbounded),
          .meaning = "tau: a gradient is applied at most so many updates after its model was read",
          .min = 0,
          .max = unbounded};
}

bool bounds_staleness(const arguments& given) { return given.integer("staleness") < unbounded; }

} // namespace gossamer::actors
