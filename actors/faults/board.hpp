#pragma once

#include "gossamer/actors/faults/plan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>

namespace gossamer::actors {

/// What becomes of one frame.
struct verdict {
  bool lost = false;
  bool corrupted = false; ///< some of its bytes arrive changed
  unsigned copies = 1;    ///< how often it arrives; 0 when lost
  double delay_s = 0;     ///< in addition to what the link itself takes

  friend bool operator==(const verdict&, const verdict&) = default;
};

/// Knows which faults of a plan are on, and tells links and workers what that means for them. Whoever knows the time
/// and the steps switches faults on and off; kills and pauses mean nothing here, and it executes them itself.
///
/// Whether a fault hits a frame depends on the seed, the kind of the fault, the link and the number of the frame alone:
/// not on the interleaving of threads, nor on what else is in the plan. One random number in [0, 1) belongs to each
/// (link, frame, kind), and a fault hits when it lies below its rate. So a milder plan hits a subset of the frames, and
/// of several drops on a link the highest rate counts; delays add up, and of several throttles the slowest counts.
///
/// Threads: safe; the frames of one link are judged in the order they are sent.
class fault_board {
public:
  static constexpr double for_ever = std::numeric_limits<double>::infinity();

  /// @error errc::usage as `check`
  fault_board(fault_plan plan, std::size_t workers, std::size_t workers_per_node, std::uint64_t seed);

  const fault_plan& plan() const noexcept { return plan_; }

  /// Switches a fault on. Requires an index within the plan; again is nothing.
  /// @param until_s when it will end, if that is known: what queues before a throttle leaves by then
  void begin(std::size_t fault, double until_s = for_ever);
  void end(std::size_t fault);

  /// Decides about the frame `number` on the link from -> to, sent at `now_s`. The frames of a link that are not held
  /// back by a reorder arrive in order: the sum of time and delay never falls, also when a delay ends. Frames that get
  /// lost take their time in a throttle like others.
  ///
  /// Cost: one relaxed atomic load while nothing is on and no delayed frame is under way; else a lock and some 40 ns,
  /// and as much again for each fault that hits only some frames of this link.
  verdict judge(rank from, rank to, std::uint64_t number, std::size_t wire_bytes, double now_s);

  /// Whether a partition that is on lets nothing through from one of the first to one of the second.
  bool parts(std::span<const rank> from, std::span<const rank> to) const;

  /// How many times longer this worker computes: the product of the factors that are on.
  double slow_down(rank worker) const;

private:
  /// Links from a worker of one set to one of another; or back.
  struct link_set {
    std::vector<bool> from, to; // empty: everybody
    bool both_ways = false;

    bool contains(rank a, rank b) const noexcept;
  };
  struct link_fault {
    double until_s;
    link_set links;
  };
  /// Of one link: what its next frames have to wait for.
  struct queue {
    double free_at_s = 0;  ///< until then a throttle is busy with earlier frames
    double in_order_s = 0; ///< when the last frame that was not held back arrives

    double arrive_in_order(double time_s) noexcept { return in_order_s = std::max(in_order_s, time_s); }
  };

  link_set links_of(const fault& f) const;
  void update_quiet_time();

  const fault_plan plan_;
  const std::size_t workers_;
  const std::size_t workers_per_node_;
  const std::uint64_t seed_;

  // From then on nothing happens to any frame; infinite while a fault of links is on.
  std::atomic<double> quiet_from_s_{0};
  mutable std::mutex mutex_;
  std::map<std::size_t, link_fault> on_links_;      // what is on, by index
  std::map<std::size_t, std::vector<rank>> slow_;   // whom it strikes, ascending
  std::unordered_map<std::uint64_t, queue> queues_; // of links that were judged while a fault of links was on
  double last_in_order_s_ = 0;                      // of all queues
};

} // namespace gossamer::actors
