#include "gossamer/apps/reproductions/detail/reproduction.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::apps {

namespace {

/// Returns a quantity at the point where the training loss first comes down to a level.
std::optional<double> until(const outcome& o, double loss, double (*where)(const actors::evaluation_record&)) {
  const auto& all = o.evaluations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!(all[i].train_loss <= loss))
      continue;
    if (i == 0 || !std::isfinite(all[i - 1].train_loss))
      return where(all[i]);
    const double share = (all[i - 1].train_loss - loss) / (all[i - 1].train_loss - all[i].train_loss);
    return where(all[i - 1]) + share * (where(all[i]) - where(all[i - 1]));
  }
  return {};
}

double time_of(const actors::evaluation_record& r) { return r.time_s; }
double epoch_of(const actors::evaluation_record& r) { return r.epoch; }
double bits_of(const actors::evaluation_record& r) { return static_cast<double>(r.payload_bits); }

} // namespace

measure training_loss() {
  return {.name = "training loss", .of = [](const outcome& o) -> std::optional<double> {
            const double loss = o.last().train_loss;
            return std::isfinite(loss) ? std::optional{loss} : std::nullopt;
          }};
}

measure test_accuracy() {
  return {.name = "test accuracy, %",
          .of = [](const outcome& o) -> std::optional<double> { return 100 * o.last().test_accuracy.value_or(0); },
          .less_is_better = false};
}

measure seconds_per_epoch() {
  return {.name = "seconds an epoch",
          .of = [](const outcome& o) -> std::optional<double> { return o.last().time_s / o.last().epoch; }};
}

measure steady_seconds_per_epoch() {
  return {.name = "seconds an epoch", .of = [](const outcome& o) -> std::optional<double> {
            const auto& all = o.evaluations;
            const auto& record = all[all.size() > 2 ? all.size() - 2 : all.size() - 1];
            return record.time_s / record.epoch;
          }};
}

measure bits_until(double loss) {
  return {.name = fmt::format("bits until loss {}", loss),
          .of = [loss](const outcome& o) { return until(o, loss, bits_of); }};
}

measure seconds_until(double loss) {
  return {.name = fmt::format("seconds until loss {}", loss),
          .of = [loss](const outcome& o) { return until(o, loss, time_of); }};
}

measure epochs_until(double loss) {
  return {.name = fmt::format("epochs until loss {}", loss),
          .of = [loss](const outcome& o) { return until(o, loss, epoch_of); }};
}

measure payload_bits() {
  return {.name = "payload, bits", .of = [](const outcome& o) -> std::optional<double> { return bits_of(o.last()); }};
}

measure bits_of_update() {
  return {.name = "bits of an element and update", .of = [](const outcome& o) -> std::optional<double> {
            const double d = o.observed.at("dimension");
            const auto workers = static_cast<double>(o.steps_per_worker.size());
            const double full_gradients = std::ceil(o.last().epoch) * workers * 64 * d;
            return (static_cast<double>(o.last().payload_bits) - full_gradients)
                   / (static_cast<double>(o.last().step) * d);
          }};
}

measure averagings_of_gradient() {
  return {.name = "averagings a gradient",
          .of = [](const outcome& o) -> std::optional<double> {
            const auto& seen = o.last().averagings;
            return seen ? static_cast<double>(seen->done) / static_cast<double>(o.last().step) : 0.0;
          },
          .less_is_better = false,
          .digits = 3};
}

measure milliseconds_per_round() {
  return {.name = "ms a round", .of = [](const outcome& o) -> std::optional<double> {
            return 1e3 * o.last().time_s / static_cast<double>(o.steps_per_worker.front());
          }};
}

measure milliseconds_per_round(std::string what, double outcome::*seconds) {
  return {.name = std::move(what) + ", ms a round", .of = [seconds](const outcome& o) -> std::optional<double> {
            return 1e3 * (o.*seconds) / static_cast<double>(o.steps_per_worker.front());
          }};
}

verdict at_most(const named_number& a, double factor, const named_number& b) {
  const auto times = factor == 1 ? std::string{} : fmt::format("{:.4g} x ", factor);
  return {std::isfinite(a.value) && a.value <= factor * b.value,
          fmt::format("{} = {:.4g}, at most {}{} = {:.4g}", a.name, a.value, times, b.name, factor * b.value)};
}

verdict within(const named_number& a, double low, double high) {
  return {low <= a.value && a.value <= high,
          fmt::format("{} = {:.4g}, within {:.4g} to {:.4g}", a.name, a.value, low, high)};
}

namespace {

std::string said_of(const ranged_number& a, std::string_view bounds) {
  if (std::isnan(a.value))
    return fmt::format("{}: neither is finite", a.name);
  const auto range = a.least == a.most ? std::string{} : fmt::format(" ({:.4g} to {:.4g})", a.least, a.most);
  return fmt::format("{} = {:.4g}{}, {}", a.name, a.value, range, bounds);
}

} // namespace

verdict surely_at_most(const ranged_number& a, double bound) {
  return {std::isfinite(a.value) && a.most <= bound, said_of(a, fmt::format("at most {:.4g}", bound))};
}

verdict surely_at_least(const ranged_number& a, double bound) {
  return {a.least >= bound, said_of(a, fmt::format("at least {:.4g}", bound))};
}

verdict surely_within(const ranged_number& a, double low, double high) {
  return {low <= a.least && a.most <= high, said_of(a, fmt::format("within {:.4g} to {:.4g}", low, high))};
}

verdict operator&&(const verdict& a, const verdict& b) { return {a.holds && b.holds, a.evidence + "; " + b.evidence}; }

verdict all_of(const std::vector<verdict>& verdicts) {
  if (verdicts.size() == 1)
    return verdicts.front();
  std::size_t failed = 0;
  std::string evidence;
  for (const auto& v : verdicts)
    if (!v.holds) {
      ++failed;
      evidence += "; " + v.evidence;
    }
  if (failed > 0)
    return {false, fmt::format("{} of {} do not hold{}", failed, verdicts.size(), evidence)};
  return {true, fmt::format("all {} hold, such as {}", verdicts.size(), verdicts.front().evidence)};
}

shape changed(shape s) {
  s.changed = true;
  return s;
}

} // namespace gossamer::apps
