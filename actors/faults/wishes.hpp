#pragma once

#include "gossamer/actors/faults/plan.hpp"

#include <mutex>
#include <utility>

namespace gossamer::actors {

/// Faults that somebody wishes for while a run goes on, on their way to its injector. The injector takes them several
/// times a second, and leaves the plan that has come about. Threads: any may call any member.
class fault_wishes {
public:
  struct wished {
    bool heal = false; ///< first all faults end that are on
    std::vector<fault> faults = {};
  };
  static constexpr std::size_t most_waiting = 100;

  /// @param f has passed `check`; its time does not count @returns false if too many wait
  bool add(fault f) {
    const std::scoped_lock lock{mutex_};
    if (wished_.faults.size() >= most_waiting)
      return false;
    wished_.faults.push_back(std::move(f));
    return true;
  }
  /// Ends all faults that are on; those wished for before do not begin.
  void heal() {
    const std::scoped_lock lock{mutex_};
    wished_ = {.heal = true};
  }

  wished take() {
    const std::scoped_lock lock{mutex_};
    return std::exchange(wished_, {});
  }
  void leave(fault_plan so_far) {
    const std::scoped_lock lock{mutex_};
    plan_ = std::move(so_far);
  }
  /// The plan that repeats the faults so far.
  fault_plan plan() const {
    const std::scoped_lock lock{mutex_};
    return plan_;
  }

private:
  mutable std::mutex mutex_;
  wished wished_;
  fault_plan plan_{.faults = {}, .live = true};
};

} // namespace gossamer::actors
