#pragma once

#include "gossamer/actors/agreement/membership.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/run/ledger.hpp"

#include <optional>
#include <set>

namespace gossamer::actors {

/// The checkpoints of a run, as the leader sees them: when the next one is due, and which part of the present one is
/// missing. A checkpoint is given up when a worker is lost before its part is safe, or when a disk refuses a part; the
/// last complete one stays. None begins while a master is away: it would lack the model. A value.
class checkpoints {
public:
  /// @param e outlives this object
  /// @param former the last number that a former leader may have ordered: parts that this one is not told of may have
  ///        come, and masters may have been lost, so these are given up
  explicit checkpoints(const experiment& e, std::uint64_t former = 0) : run_(&e), last_(former) {}

  /// Continues from the checkpoint that the run goes on from.
  void go_on_from(const manifest& m) {
    next_s_ = m.time_s;
    next_updates_ = m.updates();
  }

  /// True if a checkpoint is to be ordered now; that begins it. False until the last one is complete, or given up:
  /// memory would fill where the disk is slower than the run. A part that may never come is awaited for a minute, the
  /// next time for two, and so on.
  bool due(double time_s, std::uint64_t updates, const membership& members);
  /// Opens a checkpoint in which these members take part.
  void open(std::uint64_t number, const membership& members);
  /// Adds a part; the first one opens its checkpoint. @returns the manifest once no part is missing
  std::optional<manifest> add(const part_saved& m, const membership& members, const ledger& seen, double time_s);
  /// Gives up checkpoints that lack the part of a dead worker. A part that is safe stays, but not that of a master: its
  /// next life answers for what this one has done since.
  /// @returns their numbers
  std::vector<std::uint64_t> lose(rank i);
  /// Gives up a checkpoint. @returns true if that is news
  bool fail(std::uint64_t number);
  /// True if a master is away, or was lost after this checkpoint was ordered, and no part of it has come. Others may
  /// save upon a marker of its former life, and its next life what it has come to meanwhile: call `fail`.
  bool is_torn(std::uint64_t number, const membership& members) const {
    return number > last_ && (lost_master_ || !members.masters_are_ready());
  }
  /// Notes that the manifest of this checkpoint is on the disk.
  void complete(std::uint64_t number);

  /// True if parts have been asked for that are not safe yet.
  bool is_being_written() const noexcept { return !open_.empty(); }
  /// When the last part became safe; 0: none has.
  double heard_s() const noexcept { return heard_s_; }
  /// Stops waiting for parts. @returns true if a part was awaited
  bool give_up() { return !std::exchange(open_, {}).empty(); }

private:
  static constexpr double first_wait_s = 60; // for a part that may never come

  const experiment* run_;
  double next_s_ = 0;
  std::uint64_t next_updates_ = 0;
  struct writing {
    manifest whole;
    std::set<rank> missing; // ranks whose parts are missing; none: the manifest is being written
  };
  std::map<std::uint64_t, writing> open_; // the last one of a run may begin before the one before is complete
  std::uint64_t last_;                    // the last one that was opened, or is none of this leader
  bool ordered_ = false;                  // one was ordered, and no part has come
  bool lost_master_ = false;              // since then
  double began_s_ = 0, wait_s_ = first_wait_s, heard_s_ = 0;
};

} // namespace gossamer::actors
