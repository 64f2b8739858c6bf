#pragma once

#include "gossamer/actors/faults/plan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <unordered_map>

namespace gossamer::actors {

/// The fate of one frame.
struct verdict {
  bool lost = false;
  bool corrupted = false; ///< some of its bytes arrive changed
  unsigned copies = 1;    ///< times that the frame arrives; 0 if lost
  double delay_s = 0;     ///< in addition to the link's own delay

  friend bool operator==(const verdict&, const verdict&) = default;
};

/// Keeps track of the faults of a plan that are on, and tells links and workers their effects. The owner, which knows
/// the time and the steps, switches faults on and off. It executes kills and pauses itself; they have no effect here.
///
/// A fault hits a frame as a function of the seed, the kind of the fault, the link and the number of the frame alone:
/// the interleaving of threads and the rest of the plan have no influence. One random number in [0, 1) belongs to each
/// (link, frame, kind), and a fault hits when it lies below its rate. So a milder plan hits a subset of the frames. Of
/// several drops on a link the highest rate counts; delays add up; of several throttles the slowest counts.
///
/// Threads: safe; the frames of one link are judged in the order they are sent.
class fault_board {
public:
  static constexpr double for_ever = std::numeric_limits<double>::infinity();

  /// @error errc::usage as `check`
  fault_board(fault_plan plan, std::size_t workers, std::size_t workers_per_node, std::uint64_t seed);

  /// The plan, with the faults that have come since.
  fault_plan plan() const;
  bool live() const noexcept { return live_; } ///< more faults may come
  bool harms() const { return live_ || count() > 0; }
  /// One more than the largest index of a fault.
  std::size_t count() const;
  bool has(std::size_t index) const;
  /// Requires a fault of that index.
  fault at(std::size_t index) const;
  /// As `fault_plan::last_end_s`.
  double last_end_s() const;

  /// Adds a fault that begins later; in place of the one of that index, if there is one.
  /// @error errc::usage as `check`, and if it would be one of very many
  void add(std::size_t index, fault f);
  /// Gives a fault without an end one. Requires a fault of that index.
  void set_length(std::size_t index, double lasts_s);

  /// Switches a fault on; again has no effect. Requires a fault of that index.
  /// @param until_s end of the fault, if known: the queue before a throttle is empty by then
  void begin(std::size_t fault, double until_s = for_ever);
  void end(std::size_t fault);
  bool is_on(std::size_t fault) const;

  /// Notes that a fault is to begin. Requires a fault of that index.
  void await(std::size_t fault);
  /// Those that were to begin, and have not, in the order of their indices.
  std::vector<fault> awaited() const;

  /// Decides about the frame `number` on the link from -> to, sent at `now_s`. The frames of a link arrive in order,
  /// except those that a reorder holds back: the sum of time and delay never falls, not even when a delay ends. Lost
  /// frames take their time in a throttle like others.
  ///
  /// Cost: one relaxed atomic load while no fault is on and no delayed frame is under way; else a lock and some 40 ns,
  /// and as much again for each fault that hits only some frames of this link.
  verdict judge(rank from, rank to, std::uint64_t number, std::size_t wire_bytes, double now_s);

  /// True if a partition that is on stops every frame from each of the first to each of the second.
  bool parts(std::span<const rank> from, std::span<const rank> to) const;

  /// Factor on this worker's computing time: the product of the factors that are on.
  double slow_down(rank worker) const;

private:
  /// The links from a worker of one set to one of another; or also back.
  struct link_set {
    std::vector<bool> from, to; // empty: all
    bool both_ways = false;

    bool contains(rank a, rank b) const noexcept;
  };
  struct link_fault {
    double until_s;
    link_set links;
  };
  /// Waiting times for the next frames of one link.
  struct queue {
    double free_at_s = 0;  ///< a throttle is busy with earlier frames until then
    double in_order_s = 0; ///< arrival of the last frame that was not held back

    double arrive_in_order(double time_s) noexcept { return in_order_s = std::max(in_order_s, time_s); }
  };

  link_set links_of(const fault& f) const;
  void update_quiet_time();

  static constexpr std::size_t most_faults = 10'000; // that come while a run goes on

  const bool live_;
  std::map<std::size_t, fault> faults_; // by index
  const std::size_t workers_;
  const std::size_t workers_per_node_;
  const std::uint64_t seed_;

  // From then on no frame is affected; infinite while a fault of links is on.
  std::atomic<double> quiet_from_s_{0};
  mutable std::mutex mutex_;
  std::set<std::size_t> on_, awaited_;              // faults that are on, and that are to begin, by index
  std::map<std::size_t, link_fault> on_links_;      // those of links
  std::map<std::size_t, std::vector<rank>> slow_;   // the workers that it slows down, ascending
  std::unordered_map<std::uint64_t, queue> queues_; // of links that were judged while a fault of links was on
  double last_in_order_s_ = 0;                      // of all queues
};

} // namespace gossamer::actors
