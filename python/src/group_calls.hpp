#pragma once

#include "gossamer/actors/frames/frame.hpp"
#include "gossamer/actors/worker/algorithm.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gossamer::python {

/// A call of a collective, on its way from the program to the worker of its process.
struct group_call {
  enum class kind { sum, mean, majority, drawn_sign, gather, neighbour_mean };

  kind what = kind::gather;
  bool is_last = false;
  std::string about;                            ///< what the calls of all members have alike, in words
  vec x = {};                                   ///< this member's own vector, where vectors are added up
  std::optional<compress::packet> message = {}; ///< x, packed by a codec; or bytes that are gathered
};

/// What a call has come to.
struct group_outcome {
  /// The result. Of a gathering, the bytes of all members: their sizes as 8 bytes each, in the order of the members,
  /// and the bytes themselves behind each other.
  vec value = {};
  std::vector<actors::rank> members = {}; ///< who took part in the last call of all members: equal on all of them
  std::uint64_t calls = 0;                ///< up to this one
  bool knew_group = true;                 ///< false in a process that has not taken part in the last call of all
  actors::traffic sent = {};
};

/// Where the program's thread and its worker leave things for each other. The turn goes to the worker with the answer
/// to a job of the desk, and back with the next job. Threads: safe, since a worker that was cut off begins anew at any
/// time.
class group_slot {
public:
  void ask(group_call c) {
    const std::lock_guard lock{mutex_};
    next_ = std::move(c);
  }
  group_call take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(next_, {});
  }
  void answer(group_outcome o) {
    const std::lock_guard lock{mutex_};
    last_ = std::move(o);
  }
  group_outcome last() const {
    const std::lock_guard lock{mutex_};
    return last_;
  }

private:
  mutable std::mutex mutex_;
  group_call next_;
  group_outcome last_;
};

/// The algorithm of a group, `collectives`: each worker carries out the calls of the program around it. What it asks
/// the desk for is no gradient, but the next call.
///
/// A step ends with a call of all members (all but `neighbour_mean`). So a member that is lost takes nothing along:
/// the others repeat the call, and one that had been a call behind gets the result of another, which is equal. Any
/// number of neighbour means comes before it, with the graph of the members of the call before: a lost neighbour's
/// vector is replaced by the worker's own until then.
///
/// All members make the same calls. Each tells its successor in the ring what it calls, before anything else; so of
/// calls that differ, at least one worker finds it, and the run ends with a sentence that has both. Where neighbour
/// means may come, neighbours are told too.
///
/// Cost beyond that of the collectives: one message a call and worker, and where there is a topology one to each
/// neighbour.
actors::algorithm_entry collectives_entry(const std::shared_ptr<group_slot>& slot);

/// The largest vector of a group, in elements.
inline constexpr std::uint64_t most_group_elements = std::uint64_t{1} << 28;

} // namespace gossamer::python
