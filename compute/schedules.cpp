#include "gossamer/compute/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace gossamer::compute {

namespace {

class constant final : public schedule {
public:
  explicit constant(const arguments&) {}
  double factor(double, double) const override { return 1; }
};

class steps final : public schedule {
public:
  explicit steps(const arguments& given) : at_(given.integers("at")), factor_(given.real("factor")) {}

  double factor(double epoch, double) const override {
    double result = 1;
    for (const auto at : at_)
      if (epoch >= static_cast<double>(at))
        result *= factor_;
    return result;
  }

private:
  std::vector<std::int64_t> at_;
  double factor_;
};

class cosine final : public schedule {
public:
  explicit cosine(const arguments& given) : warmup_(given.real("warmup")) {}

  double factor(double epoch, double epochs) const override {
    const double warmup = std::min(warmup_, epochs / 2); // a short run comes down, too
    if (epoch < warmup)
      return epoch / warmup;
    if (epoch >= epochs)
      return 0;
    return 0.5 * (1 + std::cos(std::numbers::pi * (epoch - warmup) / (epochs - warmup)));
  }

private:
  double warmup_;
};

class inverse_sqrt final : public schedule {
public:
  explicit inverse_sqrt(const arguments& given) : offset_(given.real("offset")) {}
  double factor(double epoch, double) const override { return 1 / std::sqrt(1 + epoch / offset_); }

private:
  double offset_;
};

template <class Schedule>
std::unique_ptr<schedule> new_schedule(const arguments& given) {
  return std::make_unique<Schedule>(given);
}

std::array<schedule_entry, 4> schedule_entries() {
  return {{{.about = {.name = "constant", .summary = "the learning rate stays", .maths = "1"},
            .make = new_schedule<constant>},
           {.about = {.name = "steps",
                      .summary = "the learning rate falls at given epochs",
                      .maths = "factor^(number of `at` that are reached)",
                      .parameters = {{.key = "at",
                                      .kind = parameter::type::integers,
                                      .fallback = "30+60",
                                      .meaning = "epochs at which it falls",
                                      .min = 0,
                                      .max = 1e9},
                                     {.key = "factor",
                                      .kind = parameter::type::real,
                                      .fallback = "0.1",
                                      .meaning = "what it is multiplied with each time",
                                      .min = 0,
                                      .max = 1}}},
            .make = new_schedule<steps>},
           {.about = {.name = "cosine",
                      .summary = "linear warm-up, then half a cosine down to 0",
                      .maths = "epoch / warmup before the warm-up's end, "
                               "then (1 + cos(pi (epoch - warmup) / (epochs - warmup))) / 2",
                      .reference = "Loshchilov, Hutter, SGDR: stochastic gradient descent with warm restarts, 2017; "
                                   "warm-up: Goyal et al., Accurate, large minibatch SGD, 2017",
                      .parameters = {{.key = "warmup",
                                      .kind = parameter::type::real,
                                      .fallback = "5",
                                      .meaning = "length of the warm-up in epochs; half of the run at most",
                                      .min = 0,
                                      .max = 1e9}}},
            .make = new_schedule<cosine>,
            .needs_planned_epochs = true},
           {.about = {.name = "inverse-sqrt",
                      .summary = "falls with the root of the time",
                      .maths = "1 / sqrt(1 + epoch / offset)",
                      .parameters = {{.key = "offset",
                                      .kind = parameter::type::real,
                                      .fallback = "1",
                                      .meaning = "epochs after which it has fallen to 0.71",
                                      .min = 1e-9,
                                      .max = 1e9}}},
            .make = new_schedule<inverse_sqrt>}}};
}

} // namespace

const registry<schedule_entry>& schedules() {
  static const auto all = schedule_entries();
  static const registry<schedule_entry> table{"schedule", all};
  return table;
}

std::unique_ptr<schedule> make_schedule(std::string_view text) {
  const auto [entry, values] = schedules().resolve(text);
  return entry.make(values);
}

} // namespace gossamer::compute
