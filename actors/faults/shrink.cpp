#include "gossamer/actors/faults/shrink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace gossamer::actors {

namespace {

/// Calls the predicate, but never twice for a plan, and not too often.
class attempts {
public:
  attempts(const still_fails& fails, const shrink_options& options) : fails_(fails), options_(options) {}

  bool exhausted() const { return made_ >= options_.max_attempts; }

  bool fails(const fault_plan& plan) {
    if (exhausted() || !tried_.insert(to_toml(plan)).second)
      return false;
    const bool failed = fails_(plan);
    ++made_;
    if (options_.on_attempt)
      options_.on_attempt(made_, plan, failed);
    return failed;
  }

private:
  const still_fails& fails_;
  const shrink_options& options_;
  std::unordered_set<std::string> tried_; // going back to a plan that failed, and was taken then, is no progress
  std::size_t made_ = 0;
};

/// Items without those of part `part` of `parts` even parts.
template <class T>
std::vector<T> without_part(const std::vector<T>& items, std::size_t part, std::size_t parts) {
  const auto cut = [&](std::size_t k) { return items.begin() + static_cast<std::ptrdiff_t>(items.size() * k / parts); };
  std::vector<T> rest(items.begin(), cut(part));
  rest.insert(rest.end(), cut(part + 1), items.end());
  return rest;
}

/// A subset of the items for which `test` holds and from which no single item can be left out; `test` holds for all
/// items. Tries complements only: with halves they are the subsets, and for finer parts subsets hardly ever fail.
template <class T, class Test>
std::vector<T> ddmin(std::vector<T> items, const Test& test) {
  for (std::size_t parts = 2; items.size() >= 2;) {
    bool smaller = false;
    for (std::size_t part = 0; part < parts && !smaller; ++part)
      if (auto rest = without_part(items, part, parts); test(rest)) {
        items = std::move(rest);
        parts = std::max<std::size_t>(parts - 1, 2);
        smaller = true;
      }
    if (!smaller && parts == items.size())
      break;
    if (!smaller)
      parts = std::min(2 * parts, items.size());
  }
  return items;
}

/// Rounded to this many significant digits.
double rounded(double x, int digits) {
  double scale = 1, unit = 1;
  const double least = std::pow(10.0, digits - 1);
  for (; x > 0 && x * scale < least; scale *= 10)
    ;
  for (; x / unit >= 10 * least; unit *= 10)
    ;
  return unit > 1 ? std::round(x / unit) * unit : std::round(x * scale) / scale;
}

/// A number of a fault, and the way to make the fault milder with it.
struct number {
  double* (*of)(fault&); ///< nullptr if the fault does not use it
  double (*milder)(double);
  double mildest; ///< limit of `milder`
};

double half(double x) { return x / 2; }

constexpr std::array numbers{
    number{[](fault& f) { return f.at_step ? nullptr : &f.at_s; }, [](double) { return 0.0; }, 0},
    number{[](fault& f) { return f.lasts_s ? &*f.lasts_s : nullptr; }, half, 1e-3},
    number{[](fault& f) { return strikes_frames(f.kind) && f.kind != fault_kind::throttle ? &f.rate : nullptr; }, half,
           1e-3},
    number{[](fault& f) { return f.kind == fault_kind::slow ? &f.factor : nullptr; },
           [](double x) { return 1 + (x - 1) / 2; }, 1.1},
    number{[](fault& f) { return f.seconds > 0 ? &f.seconds : nullptr; }, half, 1e-3},
    number{[](fault& f) { return f.bits_per_second > 0 ? &f.bits_per_second : nullptr; },
           [](double x) { return 2 * x; }, 1e9},
};

/// A milder value, but not beyond `mildest`.
double next(const number& n, double value) {
  const double milder = n.milder(value);
  const bool passed = milder < value ? milder < n.mildest : milder > n.mildest;
  return passed ? value : milder;
}

class shrinker {
public:
  shrinker(fault_plan failing, const still_fails& fails, const shrink_options& options)
      : plan_(std::move(failing)), workers_(options.workers), attempts_(fails, options) {}

  fault_plan run() {
    for (fault_plan before; before != plan_;) {
      before = plan_;
      fewer_faults();
      for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
        fewer_workers(i);
        simpler_numbers(i);
      }
    }
    return plan_;
  }

private:
  /// Changes the plan if the changed plan still fails.
  bool keep_if_fails(fault_plan candidate) {
    if (candidate == plan_ || !attempts_.fails(candidate))
      return false;
    plan_ = std::move(candidate);
    return true;
  }
  template <class Change>
  bool keep_if_fails(std::size_t i, const Change& change) {
    if (attempts_.exhausted())
      return false;
    auto candidate = plan_;
    auto& f = candidate.faults[i];
    change(f);
    const bool on_no_link = f.from.size() == 1 && f.from == f.to;
    return !on_no_link && keep_if_fails(std::move(candidate));
  }

  void fewer_faults() {
    if (!keep_if_fails(fault_plan{}))
      ddmin(plan_.faults, [this](const auto& faults) { return keep_if_fails(fault_plan{faults}); });
  }

  void fewer_workers(std::size_t i) {
    if (!plan_.faults[i].workers.empty() && !plan_.faults[i].nodes.empty())
      keep_if_fails(i, [](fault& f) { f.workers.clear(); }) || keep_if_fails(i, [](fault& f) { f.nodes.clear(); });
    fewer(i, &fault::workers);
    fewer(i, &fault::nodes);
    if (plan_.faults[i].processes)
      keep_if_fails(i, [](fault& f) { f.processes = false; });
    while (plan_.faults[i].coordinators > 1u && keep_if_fails(i, [](fault& f) { --*f.coordinators; }))
      ;
    if (strikes_frames(plan_.faults[i].kind)) {
      fewer_than_all(i, &fault::from);
      fewer_than_all(i, &fault::to);
    }
    fewer(i, &fault::from);
    fewer(i, &fault::to);
  }

  template <class T>
  void fewer(std::size_t i, std::vector<T> fault::*list) {
    ddmin(plan_.faults[i].*list,
          [&](const auto& items) { return keep_if_fails(i, [&](fault& f) { f.*list = items; }); });
  }

  void fewer_than_all(std::size_t i, std::vector<rank> fault::*list) {
    if (!(plan_.faults[i].*list).empty() || workers_ == 0)
      return;
    std::vector<rank> all(workers_);
    std::iota(all.begin(), all.end(), rank{0});
    ddmin(all, [&](const auto& items) { return keep_if_fails(i, [&](fault& f) { f.*list = items; }); });
  }

  void simpler_numbers(std::size_t i) {
    while (plan_.faults[i].at_step && keep_if_fails(i, [](fault& f) { *f.at_step /= 2; }))
      ;
    for (const auto& n : numbers)
      if (n.of(plan_.faults[i])) {
        while (keep_if_fails(i, [&](fault& f) { *n.of(f) = next(n, *n.of(f)); }))
          ;
        for (const int digits : {1, 2})
          if (keep_if_fails(i, [&](fault& f) { *n.of(f) = rounded(*n.of(f), digits); }))
            break;
      }
  }

  fault_plan plan_;
  std::size_t workers_;
  attempts attempts_;
};

} // namespace

fault_plan shrink(fault_plan failing, const still_fails& fails, const shrink_options& options) {
  return shrinker{std::move(failing), fails, options}.run();
}

} // namespace gossamer::actors
