#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Times of computing and of waiting, for each worker and each pair: shows the worker or the link that slows down the
/// others.
///
/// A worker may compute and wait at the same time (its gradient is computed while its messages travel), so its times
/// need not add up to the run.
/// Memory: per worker, and per pair of workers that ever waited for each other. Threads: one at a time.
class blame_table {
public:
  explicit blame_table(std::size_t workers) : computed_(workers, 0) {}

  /// Adds time in which worker `who` computed a gradient.
  void computed(std::uint32_t who, std::int64_t ns) { computed_[who] += ns; }
  /// Adds time in which `waiter` could not go on for want of a frame of `culprit`, or of its own gradient if both are
  /// the same.
  void waited(std::uint32_t waiter, std::uint32_t culprit, std::int64_t ns) { waited_[{waiter, culprit}] += ns; }
  /// Sets the length of the run, to which shares refer. Call it once, at the end.
  void finish(std::int64_t total_ns) { total_ns_ = total_ns; }

  /// Two tables for people: the `top` workers that waited longest for others, and the `top` pairs that cost most.
  std::string to_text(std::size_t top = 10) const;
  /// {"total_s", "workers": [{"rank", "computing_s", "own_gradient_s", "peers_s", "worst_peer" (null if none),
  /// "worst_peer_s", "blamed_s"}, ...] by rank, "waits": [{"waiter", "culprit", "seconds"}, ...] longest first}. All
  /// workers and pairs, without the waits for own gradients. `blamed_s`: time in which others waited for this worker.
  std::string to_json() const;

private:
  struct worker_row;
  struct wait_row;
  std::vector<worker_row> workers() const;
  std::vector<wait_row> waits() const;

  std::vector<std::int64_t> computed_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> waited_; ///< by {waiter, culprit}
  std::int64_t total_ns_ = 0;
};

} // namespace gossamer::actors
