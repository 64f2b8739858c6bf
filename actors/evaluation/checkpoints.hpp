#pragma once

#include "gossamer/actors/agreement/membership.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/experiment.hpp"
#include "gossamer/actors/run/ledger.hpp"

#include <optional>
#include <set>

namespace gossamer::actors {

/// The checkpoints of a run, as the leader sees them: when the next one is due, and which part of the present one
/// is missing. When a worker is lost before its part is safe, or a disk refuses one, it is
/// given up, and the last complete one stays. A value.
class checkpoints {
public:
  /// @param e outlives this object
  explicit checkpoints(const experiment& e) : run_(&e) {}

  /// The run goes on from this one.
  void go_on_from(const manifest& m) {
    newest_ = m.checkpoint;
    next_s_ = m.time_s;
    next_updates_ = m.updates();
  }

  /// Whether one is to be ordered now; that begins it. Not before the last one is complete, or given up: memory would
  /// fill where the disk is slower than the run.
  bool due(double time_s, std::uint64_t updates);
  /// These take part.
  void open(std::uint64_t number, const membership& members);
  /// The first part of one opens it. @returns the manifest when nothing is missing any more
  std::optional<manifest> add(const part_saved& m, const membership& members, const ledger& seen, double time_s);
  /// This worker has died. A part that is safe stays.
  void lose(rank i);
  /// @returns whether that is news
  bool fail(std::uint64_t number);
  /// The manifest of this one is on the disk. @returns the one before, to be kept as well
  std::uint64_t complete(std::uint64_t number);

  /// Whether parts have been asked for that are not safe yet.
  bool is_being_written() const noexcept { return !open_.empty(); }
  /// Nothing more is awaited. @returns whether something was
  bool give_up() { return !std::exchange(open_, {}).empty(); }

private:
  const experiment* run_;
  double next_s_ = 0;
  std::uint64_t next_updates_ = 0;
  std::uint64_t newest_ = 0; // that is complete
  struct writing {
    manifest whole;
    std::set<rank> missing; // of its parts; none: the manifest is being written
  };
  std::map<std::uint64_t, writing> open_; // the last one of a run may begin before the one before is complete
  std::uint64_t last_ = 0;                // that was opened
  bool ordered_ = false;                  // and no part has come
  double began_s_ = 0;
};

} // namespace gossamer::actors
