#pragma once

#include "gossamer/actors/telemetry/time_use.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Averagings of two models so far, of all workers together.
struct averagings_record {
  std::uint64_t asked = 0;   ///< questions sent
  std::uint64_t done = 0;    ///< answers applied
  std::uint64_t dropped = 0; ///< due and never asked
};

/// One evaluation of the mean of all workers' models: a line of metrics.jsonl.
struct evaluation_record {
  std::uint64_t step = 0; ///< gradients of all workers together
  double epoch = 0;       ///< passes over the training data
  double time_s = 0;      ///< seconds since the workers started, in the time of the world they run in
  double train_loss = 0;  ///< on at most 10,000 training samples, always the same
  double test_loss = 0;
  std::optional<double> test_accuracy = {};
  double consensus_distance = 0;                    ///< sqrt((1/n) sum_i ||x_i - mean x||^2)
  std::uint64_t payload_bits = 0;                   ///< sent by all workers so far, as papers count
  std::uint64_t wire_bits = 0;                      ///< as `payload_bits`, with headers and padding
  std::optional<averagings_record> averagings = {}; ///< absent where the algorithm averages no pairs
  /// Of `payload_bits`, those sent from one island to another; absent where there are no islands.
  std::optional<std::uint64_t> payload_bits_between_islands = {};
};

/// The progress of a run; several records a second.
struct progress_record {
  double epoch = 0;
  double planned_epochs = 0;
  double loss = 0;                     ///< of minibatches, smoothed
  std::optional<double> accuracy = {}; ///< of the last evaluation
  double time_s = 0;
  double steps_per_second = 0;                    ///< gradients of all workers
  double bits_per_second = 0;                     ///< payload
  std::optional<double> averagings_per_step = {}; ///< done for each gradient so far; absent where no pairs are averaged
  double remaining_s = 0;
  std::size_t nodes = 1;      ///< processes that share the run
  std::size_t nodes_lost = 0; ///< lost nodes among them
};

/// The kinds of events, which curves mark in different ways.
enum class event_kind : std::uint8_t {
  note,    ///< anything else that is worth a line
  fault,   ///< a fault of a plan begins or ends
  loss,    ///< a worker is lost, or has left
  arrival, ///< a worker or a node comes, or comes back
  leader,  ///< another node leads
};
std::string_view to_string(event_kind kind) noexcept;

/// An event worth a line for people.
struct event_record {
  double time_s = 0;
  event_kind kind = event_kind::note;
  std::string what;
};

/// The workers that take part from one moment on, and the links between them.
struct view_record {
  double time_s = 0;
  std::uint32_t number = 1;                ///< of the view
  std::uint32_t leader = 0;                ///< number of the leading node
  std::vector<std::uint32_t> members = {}; ///< ranks of the workers that take part, ascending
  std::vector<std::uint32_t> masters = {}; ///< ranks of the masters that live, ascending
  std::vector<std::uint32_t> nodes = {};   ///< the node of each of `members`, then of each of `masters`
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges = {}; ///< of the graph of `members`, each once
};

/// What all workers and masters do at one moment, and what they have done until then.
struct workers_record {
  static constexpr std::size_t most_pairs = 512, most_waits = 2048;

  struct counts {
    std::uint64_t steps = 0;                        ///< gradients so far
    std::uint64_t payload_bits = 0;                 ///< sent so far
    std::uint64_t wire_bits = 0;                    ///< likewise, with headers and padding
    std::uint64_t payload_bits_between_islands = 0; ///< of `payload_bits`
  };
  struct link {
    std::uint32_t from, to;
    std::uint64_t bits_per_second; ///< on the wire, counted by the sender since the record before
  };
  struct wait {
    std::uint32_t waiter, culprit;
    std::uint64_t ns; ///< so far
  };

  double time_s = 0;
  bool has_islands = false;
  std::vector<counts> of = {}; ///< by rank
  /// Pairs (waiting worker, awaited worker) at this moment, at most `most_waits`; absent where they are not known.
  std::optional<std::vector<std::pair<std::uint32_t, std::uint32_t>>> waits = {};
  std::vector<link> links = {};    ///< those with most bits, at most `most_pairs`
  std::vector<wait> waited = {};   ///< the longest, at most `most_pairs`
  std::vector<time_use> used = {}; ///< by rank; empty where it is not known
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
  std::uint64_t unreported = 0;   ///< workers lost together with a node: no report of the last actions has come
  std::uint64_t views = 0;        ///< changes of the members
  std::uint64_t unfinished = 0;   ///< workers that were still within a step when a stopped run was given up
};

/// Watches a run. Called by the leader, one call at a time; may throw, which ends the run with that error.
class run_observer {
public:
  virtual ~run_observer() = default;
  virtual void on_progress(const progress_record&) {}
  virtual void on_evaluation(const evaluation_record&) {}
  virtual void on_event(const event_record&) {}
  /// True if `on_view` and `on_workers` are wanted, which cost time and memory for each worker and each link.
  virtual bool watches_workers() const { return false; }
  /// Called at the start, and whenever the members or the leader have changed.
  virtual void on_view(const view_record&) {}
  /// Called at the start, at the end, and twice a second.
  virtual void on_workers(workers_record) {}
};

} // namespace gossamer::actors
