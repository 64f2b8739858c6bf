#include "gossamer/actors/collectives/local_steps.hpp"

namespace gossamer::actors {

local_steps::local_steps(const arguments& given) : rounds_{static_cast<std::uint64_t>(given.integer("local-steps"))} {}

void local_steps::move(worker& w, vec& x, const vec& d, std::uint64_t t, float share) const {
  x -= (share * w.learning_rate(t)) * d;
  w.prox(x, t, share);
}

std::optional<local_steps::way> local_steps::went(worker& w, vec& x, const vec& g, std::uint64_t t, float share) {
  if (count() == 1) {
    auto step = w.direction(x, g, t);
    if (share != 1)
      step *= share;
    return way{std::move(step), {}};
  }
  if (begins_at(t))
    start_ = x;
  vec y = x;
  move(w, y, w.direction(x, g), t, share);
  if (rounds_.end_after(t))
    return way{start_ - y, y};
  x = std::move(y);
  return std::nullopt;
}

std::optional<vec> local_steps::direction(worker& w, vec& x, const vec& g, std::uint64_t t) {
  vec d = w.direction(x, g);
  if (count() == 1)
    return d;
  if (rounds_.end_after(t))
    return sum_ + d;
  if (begins_at(t)) {
    start_ = x;
    sum_ = d;
  } else {
    sum_ += d;
  }
  move(w, x, d, t, 1);
  return std::nullopt;
}

parameter local_steps_parameter() {
  return {.key = "local-steps",
          .kind = parameter::type::integer,
          .fallback = "1",
          .meaning = "E, gradients that a worker follows by itself in each round",
          .min = 1,
          .max = 1e9};
}

} // namespace gossamer::actors
