#include "gossamer/actors/algorithms/one_bit_moments.hpp"

#include "gossamer/actors/algorithms/decoupled_decay.hpp"
#include "gossamer/base/work.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace gossamer::actors {

one_bit_moments::one_bit_moments(const algorithm_setup& s)
    : m(zeros_like(s.initial)), v_(m), beta1_(s.given.real32("beta1")), beta2_(s.given.real32("beta2")),
      epsilon_(s.given.real32("epsilon")), decay_(s.given.real32("weight-decay")) {}

void one_bit_moments::learn(const vec& g) {
  m = momentum(g);
  const auto v = v_.mutate();
  const auto by = g.view();
  GOSSAMER_ASSERT(v.size() == by.size(), "the moments are of one model");
  const auto next = [&](std::size_t k) { return beta2_ * v[k] + (1 - beta2_) * (by[k] * by[k]); };
  bool others_move = false;
  for (std::size_t k = 0; k < v.size(); ++k)
    others_move |= (next(k) > 0) != (v[k] > 0);
  const bool errors_move = others_move && !mean_.residual().empty();
  const vec kept = errors_move ? residual() : vec{};
  for (std::size_t k = 0; k < v.size(); ++k)
    v[k] = next(k);
  if (errors_move) {
    mean_.forget();
    mean_.take_over(compact(kept));
  }
}

task<vec> one_bit_moments::lossy_mean(worker& w, vec of, std::uint64_t t) {
  of = compact(of);
  const vec mean = co_await mean_.of_all(w, of, t);
  vec all = zeros_like(v_);
  spread(all, mean);
  co_return all;
}

void one_bit_moments::move(vec& x, const vec& by, float rate) const {
  const auto all = x.mutate();
  const auto momenta = by.view(), v = v_.view();
  GOSSAMER_ASSERT(momenta.size() == all.size() && v.size() == all.size(), "the moments are of one model");
  for (std::size_t k = 0; k < all.size(); ++k)
    all[k] -= rate * ((v[k] > 0 ? momenta[k] / (std::sqrt(v[k]) + epsilon_) : 0) + decay_ * all[k]);
  count_arithmetic(4 * sizeof(float) * all.size());
}

vec one_bit_moments::residual() const {
  vec e = zeros_like(v_);
  if (const vec kept = mean_.residual(); !kept.empty())
    spread(e, kept);
  return e;
}

/// The elements that move: those with v > 0, one after the other.
vec one_bit_moments::compact(const vec& of) const {
  std::vector<float> chosen;
  chosen.reserve(of.size());
  const auto v = v_.view(), all = of.view();
  GOSSAMER_ASSERT(v.size() == all.size(), "the moments are of one model");
  for (std::size_t k = 0; k < v.size(); ++k)
    if (v[k] > 0)
      chosen.push_back(all[k]);
  auto pool = of.pool();
  return {pool, chosen};
}

/// The inverse of `compact`; other elements stay.
void one_bit_moments::spread(vec& into, const vec& chosen) const {
  const auto v = v_.view(), from = chosen.view();
  const auto all = into.mutate();
  GOSSAMER_ASSERT(std::cmp_equal(std::ranges::count_if(v, [](float x) { return x > 0; }), from.size()),
                  "compact vectors have an element for each v > 0");
  for (std::size_t k = 0, next = 0; k < v.size(); ++k)
    if (v[k] > 0)
      all[k] = from[next++];
}

algorithm_traits traits_of_one_bit_moments() {
  return {.exchange = exchange_pattern::all,
          .synchronous = true,
          .takes_direction = false,
          .own_optimiser = true,
          .default_codec = "scaled-sign",
          .default_optimiser = "sgd",
          .default_lr = 0.001,
          .lr_grows = false,
          .on_loss = interrupted_round::repeat,
          .promises = {.most_exchanges_apart = 1,
                       .lossy_codecs_move_mean = true,
                       .follows_mean_gradient = false,
                       .sgd_alone = false}};
}

std::vector<parameter> with_one_bit_moments(std::vector<parameter> own, const char* epsilon) {
  std::vector<parameter> all{{.key = "warm-up",
                              .kind = parameter::type::integer,
                              .fallback = "100",
                              .meaning = "T_w, in steps of each worker; a sixth to a quarter of the run is usual",
                              .min = 1}};
  std::ranges::move(own, std::back_inserter(all));
  for (auto& p : compute::parameters_of_moments()) {
    if (p.key == "epsilon")
      p.fallback = epsilon;
    all.push_back(std::move(p));
  }
  all.push_back(decoupled_decay());
  return all;
}

} // namespace gossamer::actors
