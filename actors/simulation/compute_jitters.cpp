#include "gossamer/actors/simulation/compute_cost.hpp"

#include <array>
#include <cmath>

namespace gossamer::actors {

namespace {

double exponential(random_sequence& draws) { return -std::log1p(-draws.uniform_double()); }

class none final : public compute_jitter {
public:
  explicit none(const arguments&) {}
  double factor(random_sequence&) const override { return 1; }
};

class uniform_jitter final : public compute_jitter {
public:
  explicit uniform_jitter(const arguments& given) : width_(given.real("width")) {}
  double factor(random_sequence& draws) const override { return 1 + width_ * (2 * draws.uniform_double() - 1); }

private:
  double width_;
};

class lognormal final : public compute_jitter {
public:
  explicit lognormal(const arguments& given) : sigma_(given.real("sigma")) {}
  double factor(random_sequence& draws) const override {
    return std::exp(sigma_ * draws.normal() - 0.5 * sigma_ * sigma_);
  }

private:
  double sigma_;
};

class shifted_exponential final : public compute_jitter {
public:
  explicit shifted_exponential(const arguments& given) : share_(given.real("share")) {}
  double factor(random_sequence& draws) const override { return 1 - share_ + share_ * exponential(draws); }

private:
  double share_;
};

class pareto final : public compute_jitter {
public:
  explicit pareto(const arguments& given) : shape_(given.real("shape")) {}
  double factor(random_sequence& draws) const override {
    return (shape_ - 1) / shape_ * std::exp(exponential(draws) / shape_);
  }

private:
  double shape_;
};

template <class Jitter>
std::unique_ptr<compute_jitter> make(const arguments& given) {
  return std::make_unique<Jitter>(given);
}

std::array<compute_jitter_entry, 5> entries() {
  return {
      {{.about = {.name = "none", .summary = "every gradient takes the same time", .maths = "1"}, .make = make<none>},
       {.about = {.name = "uniform",
                  .summary = "even scatter about the mean",
                  .maths = "uniform in [1 - width, 1 + width]",
                  .parameters = {{.key = "width",
                                  .fallback = "0.1",
                                  .meaning = "largest deviation, as a share of the mean",
                                  .min = 0,
                                  .max = 1}}},
        .make = make<uniform_jitter>},
       {.about = {.name = "lognormal",
                  .summary = "many small disturbances that multiply",
                  .maths = "exp(sigma z - sigma^2 / 2), z standard normal",
                  .parameters = {{.key = "sigma",
                                  .fallback = "0.2",
                                  .meaning = "standard deviation of the logarithm",
                                  .min = 0,
                                  .max = 3}}},
        .make = make<lognormal>},
       {.about =
            {.name = "exponential",
             .summary = "a fixed part and a memoryless rest: occasional stragglers",
             .maths = "1 - share + share Exp(1)",
             .reference = "Lee, Lam, Pedarsani, Papailiopoulos, Ramchandran, Speeding up distributed machine "
                          "learning using codes, 2018: the shifted exponential model",
             .parameters =
                 {{.key = "share", .fallback = "0.1", .meaning = "the random part of the mean", .min = 0, .max = 1}}},
        .make = make<shifted_exponential>},
       {.about = {.name = "pareto",
                  .summary = "a heavy tail: rare stragglers that take many times longer",
                  .maths = "(shape - 1) / shape * u^(-1 / shape), u uniform in (0, 1]",
                  .parameters = {{.key = "shape",
                                  .fallback = "3",
                                  .meaning = "the smaller, the heavier the tail; the variance is finite above 2",
                                  .min = 1.1,
                                  .max = 1000}}},
        .make = make<pareto>}}};
}

} // namespace

const registry<compute_jitter_entry>& compute_jitters() {
  static const auto all = entries();
  static const registry<compute_jitter_entry> table{"jitter", all};
  return table;
}

std::unique_ptr<compute_jitter> make_compute_jitter(std::string_view text) {
  const auto [entry, values] = compute_jitters().resolve(text);
  return entry.make(values);
}

} // namespace gossamer::actors
