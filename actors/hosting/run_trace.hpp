#pragma once

#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/hosting/trace_moment.hpp"
#include "gossamer/actors/worker/witness.hpp"
#include "gossamer/compress/coder.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

namespace gossamer::actors {

/// Tells what the workers of one process do in real time, moment by moment.
/// Cost: a lock, and what the taker costs. Threads: safe.
class run_trace final : public witness {
public:
  /// Time since the run began.
  using clock = std::function<std::chrono::nanoseconds()>;
  /// Takes one moment after the other, in the order of time, and lets nobody wait.
  using taker = std::function<void(const trace_moment&)>;

  explicit run_trace(taker take) : take_(std::move(take)) {}

  /// The run begins. Nothing is told before. @param first_master number of ranks for workers
  void begin(clock now, rank first_master);
  /// The run has ended, and its clock with it. Nothing is told afterwards.
  void end();

  /// A gradient was computed until now.
  void computed(rank who, std::uint64_t step, std::chrono::nanoseconds took);
  /// Returns a coder whose work for this worker is told.
  std::shared_ptr<const compress::coder> watch(rank who, std::shared_ptr<const compress::coder> inner);
  /// Returns a link whose frames are told.
  std::unique_ptr<link> watch(rank to, std::unique_ptr<link> inner);

  void ends(rank who, std::uint32_t incarnation) override;
  void adopts(rank who, const view& v) override;
  void wait_begins(rank who, rank whom, const tag& wanted) override;
  void wait_ends(rank who, rank whom) override;
  void pauses(rank who, std::chrono::nanoseconds lasts) override;
  void delivered(rank who, const frame& f) override;

private:
  class watched_link;

  /// Tells a moment, if the run is under way.
  void tell(trace_moment m);
  void sent(rank to, const frame& f);
  std::chrono::nanoseconds now() const;

  mutable std::mutex mutex_; ///< of everything below
  clock now_;
  taker take_;
};

} // namespace gossamer::actors
