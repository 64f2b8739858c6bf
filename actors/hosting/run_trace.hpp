#pragma once

#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/telemetry/trace.hpp"
#include "gossamer/actors/worker/witness.hpp"
#include "gossamer/compress/coder.hpp"

#include <chrono>
#include <compare>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gossamer::actors {

/// Draws what the workers of one process do in real time, in the rows of a simulated run's picture: waits of the
/// workers, their gradients, their encoding and decoding, and frames between two of them.
///
/// Cost: a lock and some tens of nanoseconds an event; the memory of a `trace_recorder`, and 64 bytes for each of at
/// most 65,536 frames under way. Threads: safe.
class run_trace final : public witness {
public:
  /// Time since the run began.
  using clock = std::function<std::chrono::nanoseconds()>;

  explicit run_trace(std::size_t limit = trace_recorder::default_limit) : recorder_(limit) {}

  /// The run begins. Nothing is recorded before. @param first_master number of ranks for workers
  void begin(clock now, rank first_master);
  /// The run has ended, and its clock with it. Nothing is recorded afterwards.
  void end();

  /// A gradient was computed until now.
  void computed(rank who, std::uint64_t step, std::chrono::nanoseconds took);
  /// Returns a coder whose work for this worker is drawn.
  std::shared_ptr<const compress::coder> watch(rank who, std::shared_ptr<const compress::coder> inner);
  /// Returns a link whose frames are drawn when a worker of this process gets them.
  std::unique_ptr<link> watch(rank to, std::unique_ptr<link> inner);

  /// Writes the picture as a file for Perfetto. See `trace_recorder::write`.
  void write(std::FILE* out) const;

  void ends(rank who, std::uint32_t incarnation) override;
  void adopts(rank who, const view& v) override;
  void wait_begins(rank who, rank whom, const tag& wanted) override;
  void wait_ends(rank who, rank whom) override;
  void delivered(rank who, const frame& f) override;

private:
  class watched_link;

  /// Of a frame between two workers. No two of a run have the same.
  struct way {
    rank from, to;
    std::uint32_t incarnation;
    tag label;
    friend auto operator<=>(const way&, const way&) = default;
  };
  struct wait {
    rank whom;
    std::int64_t since_ns;
  };

  /// Calls `draw(now_ns)` while the run is under way.
  template <class Draw>
  void record(Draw draw);
  void sent(rank to, const frame& f);
  std::chrono::nanoseconds now() const;
  trace_track track(const char* group, rank who);

  mutable std::mutex mutex_; ///< of everything below
  clock now_;
  rank first_master_ = 0;
  trace_recorder recorder_;
  std::map<rank, std::vector<wait>> waits_;
  std::map<way, std::int64_t> under_way_;       ///< when they were sent
  std::map<rank, std::int64_t> last_delivered_; ///< to a worker
};

} // namespace gossamer::actors
