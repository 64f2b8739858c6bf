#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Suspects who has been silent for too long: a process that is stopped or cut off breaks no connection. Whoever is
/// watched says something at least every `heartbeat_every`. Knows no clock: its owner tells the time, since whenever,
/// and looks as often. Time in which the owner itself stood still counts for nobody: what came meanwhile has not been
/// heard yet. Threads: as a value.
class failure_detector {
public:
  using time = std::chrono::nanoseconds;

  explicit failure_detector(time patience) : patience_(patience) {}

  /// Something has come from this one, who is watched from now on.
  void heard(std::uint32_t who, time now) { last_[who] = now; }
  void forget(std::uint32_t who) { last_.erase(who); }
  /// Who has said nothing for longer than the patience.
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

/// How often nodes let others hear of them, when there is nothing else to say.
inline constexpr auto heartbeat_every = std::chrono::milliseconds(500);

} // namespace gossamer::actors
