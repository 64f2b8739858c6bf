#pragma once

#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Tables and figures of papers, as data: runs, measures, printed numbers, and the shapes that must come back.
/// Adding one: a file in this folder and one line in registry.cpp (docs/adding-a-reproduction.md).
namespace gossamer::apps {

/// Flags of `gossamer simulate`, e.g. {"--workers", "8"}.
using flags = std::vector<std::string>;

/// Results of one run.
struct outcome {
  std::vector<actors::evaluation_record> evaluations; ///< empty if it diverged
  std::vector<std::uint64_t> steps_per_worker;
  double computing_s = 0, compressing_s = 0, communicating_s = 0; ///< of a worker on average
  std::uint64_t gradients_lost = 0;                               ///< with workers that died
  std::map<std::string, double> observed;                         ///< numbers of `reproduction::observe`

  bool diverged() const { return evaluations.empty(); }
  /// Requires that it did not diverge.
  const actors::evaluation_record& last() const { return evaluations.back(); }
};

/// A number that is taken from a run, and the form in which it is printed.
struct measure {
  std::string name; ///< with its unit: "seconds an epoch"
  /// Returns `nullopt` if the run never reached the measured event. Not called for runs that diverged. Null: the number
  /// of this name from `reproduction::observe`.
  std::function<std::optional<double>(const outcome&)> of;
  bool less_is_better = true; ///< `nullopt` and divergence count as the worst value
  int digits = 4;             ///< significant digits in tables

  double worst() const { return less_is_better ? std::numeric_limits<double>::infinity() : 0; }
};

measure training_loss();
measure test_accuracy(); ///< in percent
/// Virtual seconds of a pass over the data, all workers together.
measure seconds_per_epoch();
/// Seconds a pass without the end of the run, where slow gradients and messages under way are waited for.
measure steady_seconds_per_epoch();
/// Payload that all workers send until an evaluation shows such a training loss, and the virtual seconds and epochs
/// until then; linear between two evaluations.
measure bits_until(double loss);
measure seconds_until(double loss);
measure epochs_until(double loss);
measure payload_bits(); ///< of the whole run
/// Payload of an element for each update, without full gradients, of variance-reduced methods.
measure bits_of_update();
measure averagings_of_gradient(); ///< averagings of two models for each gradient; 0 if the algorithm has none
/// Virtual time of a round of all workers together: all of it, or a worker's time for one activity.
measure milliseconds_per_round();
measure milliseconds_per_round(std::string what, double outcome::*seconds);

/// A method, or a setting in which all methods run.
struct variant {
  std::string name = {};
  flags given = {};
  std::optional<double> x = {}; ///< place on the axis of a figure
  std::string panel = {};       ///< panel of a figure with several
  double rate_unit = 1;         ///< of a method: its rates are those of the reproduction, times this
};

/// A number of the paper. @param method, setting names of variants
struct published {
  std::string measure, method, setting;
  std::string text; ///< as printed
};

/// A number with its name, for sentences.
struct named_number {
  double value;
  std::string name;
};

/// Whether a shape came back, and the numbers that show it.
struct verdict {
  bool holds = false;
  std::string evidence = {};
};

/// a <= factor b. False for an infinite a, the value of a run that diverged or never came so far, if less is better.
verdict at_most(const named_number& a, double factor, const named_number& b);
/// low <= a <= high.
verdict within(const named_number& a, double low, double high);
/// A mean over seeds with its name, and the ends of the interval that holds it with 95 %; of one seed, all are its
/// value.
struct ranged_number {
  double value, least, most;
  std::string name;
};

/// True if the whole interval is at most, or at least, the bound. NaN is neither.
verdict surely_at_most(const ranged_number& a, double bound);
verdict surely_at_least(const ranged_number& a, double bound);
/// low <= a <= high, for the whole interval.
verdict surely_within(const ranged_number& a, double low, double high);
verdict operator&&(const verdict& a, const verdict& b);
/// True if all hold; the evidence is the verdict that fails, or else the first. Requires at least one.
verdict all_of(const std::vector<verdict>& verdicts);
/// `all_of` the verdicts of f.
template <class Range, class F>
verdict each(const Range& range, F f) {
  std::vector<verdict> verdicts(std::size(range));
  std::ranges::transform(range, verdicts.begin(), f);
  return all_of(verdicts);
}

class findings;

/// A result of a paper, and the condition under which it has come back.
struct shape {
  std::string claim;
  std::function<verdict(const findings&)> judge;
  std::string undecidable = {}; ///< why no run here can decide it, as a sentence; it then counts neither way
  bool changed = false;         ///< whether the bound or a setting was chosen after a run in full (`changes`)
};

/// A shape whose bound or setting was chosen after a run in full.
shape changed(shape s);

enum class picture_kind {
  curves, ///< one for each run: a panel for each setting, a line for each method
  points, ///< a measure over the settings' `x`: a panel for each of their panels, a line for each method
  bars,   ///< measures on top of each other: a panel for each setting, a bar for each method
};

struct picture {
  picture_kind kind = picture_kind::curves;
  std::string x = "epochs";     ///< of curves: epochs, seconds or bits; of points: the label
  std::string y = "train-loss"; ///< of curves: train-loss or accuracy; of points: the measure
  bool log_x = false, log_y = false;
  std::vector<std::string> stacked = {}; ///< measures of the bars
};

struct reproduction {
  std::string name;  ///< "tang2018-figure1"
  std::string title; ///< the subject of the figure or table in the paper
  std::string reference;
  std::string differences; ///< between the paper's experiment and this one: sizes, data, details that the paper does
                           ///< not print

  std::string changes = {}; ///< what was chosen after a run in full had been seen, and what had been seen

  flags common = {}; ///< flags of all runs
  std::vector<variant> methods = {};
  std::vector<variant> settings = {{}};
  /// Flags that follow from both, behind the flags of each.
  std::function<flags(const variant& method, const variant& setting)> together = {};
  /// The faults of a run, drawn from its seed. Null: none but those of the flags.
  std::function<actors::fault_plan(const variant& method, const variant& setting, std::uint64_t seed)> faults = {};
  /// The learning rates that every method is tried with, in every setting. Empty: no rate matters, or `common` has it.
  /// The best rate is that with the best mean of `quality` over the seeds. @see chosen
  std::vector<double> rates = {};
  measure quality = training_loss();
  std::size_t seeds = 3; ///< the runs have the seeds 1 to this; 0: one run, whose seed is that of the user's flags
  std::vector<measure> measures = {};
  std::vector<published> numbers = {};
  std::vector<shape> shapes = {};
  std::vector<picture> pictures = {};
  /// Numbers that no run reports. Called in the process of each run, before the run, with the same settings.
  std::function<std::map<std::string, double>(const actors::experiment&)> observe = {};
};

/// One line of the table. The function makes the reproduction in full, or in the quick form that tests run.
struct reproduction_entry {
  std::string name;
  reproduction (*make)(bool quick);
};

/// All reproductions, in the order of the page.
const std::vector<reproduction_entry>& reproductions();

} // namespace gossamer::apps
