#include "gossamer/actors/collectives/outer_step.hpp"

#include <utility>

namespace gossamer::actors {

outer_optimiser::outer_optimiser(const arguments& given, const vec& theta)
    : rule_(given.is("outer", "nesterov")     ? rule::nesterov
            : given.is("outer", "heavy-ball") ? rule::heavy_ball
            : given.is("outer", "slowmo")     ? rule::slowmo
                                              : rule::average),
      lr_(given.real32("outer-lr")), momentum_(rule_ == rule::average ? 0 : given.real32("outer-momentum")),
      u_(momentum_ == 0 ? vec{} : zeros_like(theta)) {}

void outer_optimiser::step(vec& theta, const vec& mean, float inner_lr) {
  if (momentum_ == 0 && lr_ == 1) {
    theta = mean;
    return;
  }
  const vec delta = theta - mean;
  u_ *= momentum_;
  switch (momentum_ == 0 ? rule::average : rule_) {
  case rule::average:
    theta -= lr_ * delta;
    break;
  case rule::nesterov:
    u_ += delta;
    theta -= lr_ * delta;
    theta -= (lr_ * momentum_) * u_;
    break;
  case rule::heavy_ball:
    u_ -= lr_ * delta;
    theta += u_;
    break;
  case rule::slowmo:
    if (inner_lr == 0)
      break; // the workers have not moved
    u_ += (1 / inner_lr) * delta;
    theta -= (lr_ * inner_lr) * u_;
    break;
  }
}

std::vector<parameter> with_outer_step(std::vector<parameter> own) {
  own.push_back({.key = "outer",
                 .kind = parameter::type::choice,
                 .fallback = "nesterov",
                 .meaning = "what an outer step does with Delta, the mean distance that the workers have moved",
                 .choices = {"nesterov", "heavy-ball", "slowmo", "average"}});
  own.push_back(outer_lr("0.7", "eta"));
  own.push_back(outer_momentum("0.9", "mu; average has none"));
  return own;
}

parameter outer_period() {
  return {.key = "period",
          .kind = parameter::type::integer,
          .fallback = "10",
          .meaning = "H, in steps of each worker",
          .min = 1,
          .max = 1e9};
}

parameter outer_lr(std::string fallback, std::string symbol) {
  return {.key = "outer-lr",
          .kind = parameter::type::real,
          .fallback = std::move(fallback),
          .meaning = std::move(symbol),
          .min = 0,
          .max = 100};
}

parameter outer_momentum(std::string fallback, std::string symbol) {
  return {.key = "outer-momentum",
          .kind = parameter::type::real,
          .fallback = std::move(fallback),
          .meaning = std::move(symbol),
          .min = 0,
          .max = 0.999999};
}

} // namespace gossamer::actors
