#pragma once

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

/// Tables and figures of papers, as data: what is run, what is measured, what was printed, and what must come back.
/// Adding one: a file in this folder and one line in registry.cpp (docs/adding-a-reproduction.md).
namespace gossamer::apps {

/// Flags of `gossamer simulate`, e.g. {"--workers", "8"}.
using flags = std::vector<std::string>;

/// What one run came to.
struct outcome {
  std::vector<actors::evaluation_record> evaluations; ///< empty: it diverged
  std::vector<std::uint64_t> steps_per_worker;
  double computing_s = 0, compressing_s = 0, communicating_s = 0; ///< of a worker on average
  std::map<std::string, double> observed;                         ///< what `reproduction::observe` says

  bool diverged() const { return evaluations.empty(); }
  /// Requires that it did not diverge.
  const actors::evaluation_record& last() const { return evaluations.back(); }
};

/// A number that is taken of a run, and how it is printed.
struct measure {
  std::string name; ///< with its unit: "seconds an epoch"
  /// None: what is measured never came. Not asked of runs that diverged. Null: what `reproduction::observe` says under
  /// this name.
  std::function<std::optional<double>(const outcome&)> of;
  bool less_is_better = true; ///< what never came, or diverged, is the worst
  int digits = 4;             ///< significant ones in tables

  double worst() const { return less_is_better ? std::numeric_limits<double>::infinity() : 0; }
};

measure training_loss();
measure test_accuracy(); ///< in percent
/// Virtual seconds of a pass over the data, all workers together.
measure seconds_per_epoch();
/// The same but for the end of the run, when slow gradients and messages under way are waited for.
measure steady_seconds_per_epoch();
/// Payload sent by all until an evaluation shows such a training loss, and the virtual seconds and epochs until then;
/// between two evaluations, as a straight line.
measure bits_until(double loss);
measure seconds_until(double loss);
measure epochs_until(double loss);
measure payload_bits(); ///< of the whole run
/// Virtual time of a round of all workers together: all of it, or what a worker spends on one thing.
measure milliseconds_per_round();
measure milliseconds_per_round(std::string what, double outcome::*seconds);

/// One of the things compared: a method, or a setting that all methods are run in.
struct variant {
  std::string name = {};
  flags given = {};
  std::optional<double> x = {}; ///< where it stands on the axis of a figure
  std::string panel = {};       ///< of a figure with several
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

/// Whether something came back, and the numbers that say so.
struct verdict {
  bool holds = false;
  std::string evidence = {};
};

/// a <= factor b. What diverged or never came, where less is better, is never at most anything.
verdict at_most(const named_number& a, double factor, const named_number& b);
/// a <= b + margin; for accuracies in percent.
verdict at_most_above(const named_number& a, double margin, const named_number& b);
/// low <= a <= high.
verdict within(const named_number& a, double low, double high);
verdict operator&&(const verdict& a, const verdict& b);
/// All of them; the evidence is what fails, or the first. Requires at least one.
verdict all_of(const std::vector<verdict>& verdicts);
/// f of each.
template <class Range, class F>
verdict each(const Range& range, F f) {
  std::vector<verdict> verdicts(std::size(range));
  std::ranges::transform(range, verdicts.begin(), f);
  return all_of(verdicts);
}

class findings;

/// What a paper shows, and what must be so for it to have come back.
struct shape {
  std::string claim;
  std::function<verdict(const findings&)> judge;
};

enum class picture_kind {
  curves, ///< of runs: a panel for each setting, a line for each method
  points, ///< a measure over the settings' `x`: a panel for each of theirs, a line for each method
  bars,   ///< measures on top of each other: a panel for each setting, a bar for each method
};

struct picture {
  picture_kind kind = picture_kind::curves;
  std::string x = "epochs";     ///< of curves: epochs, seconds or bits; of points: the label
  std::string y = "train-loss"; ///< of curves: train-loss or accuracy; of points: the measure
  bool log_x = false, log_y = false;
  std::vector<std::string> stacked = {}; ///< measures of bars
};

struct reproduction {
  std::string name;  ///< "tang2018-figure1"
  std::string title; ///< what the paper shows there
  std::string reference;
  std::string differences; ///< between the paper's experiment and this one: sizes, data, what is not printed

  flags common = {}; ///< of all runs
  std::vector<variant> methods;
  std::vector<variant> settings = {{}};
  /// Flags that follow from both, behind theirs.
  std::function<flags(const variant& method, const variant& setting)> together = {};
  /// The learning rates that every method is tried with, in every setting; empty: no rate matters, or `common` has it.
  /// The best is that whose mean of `quality` over the seeds is. @see chosen
  std::vector<double> rates = {};
  measure quality = training_loss();
  std::size_t seeds = 3;
  std::vector<measure> measures;
  std::vector<published> numbers = {};
  std::vector<shape> shapes;
  std::vector<picture> pictures = {};
  /// Numbers that no run says: asked in the process of each run, before it, of the same settings.
  std::function<std::map<std::string, double>(const actors::experiment&)> observe = {};
};

/// One line of the table: how it is made, in full or in the quick form that tests run.
struct reproduction_entry {
  std::string name;
  reproduction (*make)(bool quick);
};

/// All, in the order of the page.
const std::vector<reproduction_entry>& reproductions();

} // namespace gossamer::apps
