#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gossamer::actors {

/// One evaluation of the mean of all workers' models: a line of metrics.jsonl.
struct evaluation_record {
  std::uint64_t step = 0; ///< gradients of all workers together
  double epoch = 0;       ///< passes over the training data
  double time_s = 0;      ///< seconds since the workers started, in the time of the world they run in
  double train_loss = 0;  ///< on at most 10,000 training samples, always the same
  double test_loss = 0;
  std::optional<double> test_accuracy = {};
  double consensus_distance = 0;  ///< sqrt((1/n) sum_i ||x_i - mean x||^2)
  std::uint64_t payload_bits = 0; ///< sent by all workers so far, as papers count
  std::uint64_t wire_bits = 0;    ///< as `payload_bits`, with headers and padding
};

/// The progress of a run; several records a second.
struct progress_record {
  double epoch = 0;
  double planned_epochs = 0;
  double loss = 0;                ///< of minibatches, smoothed
  std::optional<double> accuracy; ///< of the last evaluation
  double time_s = 0;
  double steps_per_second = 0; ///< gradients of all workers
  double bits_per_second = 0;  ///< payload
  double remaining_s = 0;
  std::size_t nodes = 1;      ///< processes that share the run
  std::size_t nodes_lost = 0; ///< lost nodes among them
};

enum class run_end { planned, seconds, interrupted };
std::string to_string(run_end end);

/// The result of a run: summary.json.
struct run_summary {
  std::string algorithm;
  std::size_t workers = 0;
  std::uint64_t seed = 0;
  run_end end = run_end::planned;
  evaluation_record final;
  std::vector<std::uint64_t> steps_per_worker;
  /// Number of gradients by their staleness when they were applied: updates of a model between reading it and applying
  /// its gradient. Masters count for their models (with several masters, the last one). A worker's own model counts 0,
  /// since no other worker's gradient changes it. In pairwise averaging, updates of all workers count, in the order of
  /// their reports to the leader. Empty in synchronous runs.
  std::map<std::uint64_t, std::uint64_t> staleness;
  std::uint64_t stale_frames = 0; ///< not received in their step or the next: an algorithm's fault
  std::uint64_t lost = 0;         ///< noticed deaths of workers
  std::uint64_t returned = 0;     ///< workers that were started anew
  std::uint64_t unreported = 0;   ///< deaths together with a process: no report of the last actions has come
  std::uint64_t views = 0;        ///< changes of the members
  std::uint64_t unfinished = 0;   ///< workers that were still within a step when a stopped run was given up
};

/// Watches a run. Called by the leader, one call at a time; may throw, which ends the run with that error.
class run_observer {
public:
  virtual ~run_observer() = default;
  virtual void on_progress(const progress_record&) {}
  virtual void on_evaluation(const evaluation_record&) {}
  /// An event worth a line: a worker is lost, or comes back.
  virtual void on_event(double /*time_s*/, const std::string& /*what*/) {}
};

} // namespace gossamer::actors
