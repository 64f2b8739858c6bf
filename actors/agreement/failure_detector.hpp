#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Suspects watched processes that have been silent for too long: a process that is stopped or cut off breaks no
/// connection. A watched process says something at least every `heartbeat_every`. The detector has no clock: its owner
/// passes the time, from any origin, and looks as often. Time in which the owner itself stood still counts against no
/// process: messages that came meanwhile have not been heard yet. Threads: as a value.
class failure_detector {
public:
  using time = std::chrono::nanoseconds;

  explicit failure_detector(time patience) : patience_(patience) {}

  /// Notes that a message of `who` has come, and watches it from now on.
  void heard(std::uint32_t who, time now) { last_[who] = now; }
  void forget(std::uint32_t who) { last_.erase(who); }
  bool watches(std::uint32_t who) const { return last_.contains(who); }
  /// Returns the processes that have been silent for longer than the patience.
  std::vector<std::uint32_t> silent(time now) {
    if (const auto away = now - std::min(std::exchange(looked_, now), now); away > longest_between_looks)
      for (auto& [_, when] : last_)
        when = std::min(when + away, now);
    std::vector<std::uint32_t> result;
    for (const auto& [who, when] : last_)
      if (now - when > patience_)
        result.push_back(who);
    return result;
  }

  time patience() const noexcept { return patience_; }

private:
  static constexpr time longest_between_looks = std::chrono::seconds(1);

  time patience_;
  time looked_ = time::max();
  std::map<std::uint32_t, time> last_;
};

/// Period of a node's signs of life when it has nothing else to say.
inline constexpr auto heartbeat_every = std::chrono::milliseconds(500);

} // namespace gossamer::actors
