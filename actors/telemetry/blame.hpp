#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Who computed, and who waited for whom, how long: shows the worker or the link that holds the others up.
///
/// A worker may compute and wait at the same time (its gradient is computed while its messages travel), so that its
/// times need not add up to the run.
/// Memory: per worker, and per pair of workers that ever waited for each other. Threads: one at a time.
class blame_table {
public:
  explicit blame_table(std::size_t workers) : computed_(workers, 0) {}

  /// Worker `who` was busy with a gradient for so long.
  void computed(std::uint32_t who, std::int64_t ns) { computed_[who] += ns; }
  /// `waiter` could not go on for so long because something of `culprit` was missing; of its own gradient, when both
  /// are the same.
  void waited(std::uint32_t waiter, std::uint32_t culprit, std::int64_t ns) { waited_[{waiter, culprit}] += ns; }
  /// The length of the run, which shares refer to. Call once, at the end.
  void finish(std::int64_t total_ns) { total_ns_ = total_ns; }

  /// Two tables for people: the `top` workers that waited longest for others, and the `top` pairs that cost most.
  std::string to_text(std::size_t top = 10) const;
  /// {"total_s", "workers": [{"rank", "computing_s", "own_gradient_s", "peers_s", "worst_peer" (null if none),
  /// "worst_peer_s", "blamed_s"}, ...] by rank, "waits": [{"waiter", "culprit", "seconds"}, ...] longest first}.
  /// All of them, without the waits for own gradients. `blamed_s` is how long others waited for this worker.
  std::string to_json() const;

private:
  struct worker_row;
  struct wait_row;
  std::vector<worker_row> workers() const;
  std::vector<wait_row> waits() const;

  std::vector<std::int64_t> computed_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> waited_; ///< of {waiter, culprit}
  std::int64_t total_ns_ = 0;
};

} // namespace gossamer::actors
