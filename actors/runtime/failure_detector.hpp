#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

namespace gossamer::actors {

/// Suspects who has been silent for too long: a process that is stopped or cut off breaks no connection. Whoever is
/// watched says something at least every `heartbeat_every`. Knows no clock: its owner tells the time, since whenever.
/// Threads: as a value.
class failure_detector {
public:
  using time = std::chrono::nanoseconds;

  explicit failure_detector(time patience) : patience_(patience) {}

  /// Something has come from this one, who is watched from now on.
  void heard(std::uint32_t who, time now) { last_[who] = now; }
  void forget(std::uint32_t who) { last_.erase(who); }
  /// Who has said nothing for longer than the patience.
  std::vector<std::uint32_t> silent(time now) const {
    std::vector<std::uint32_t> result;
    for (const auto& [who, when] : last_)
      if (now - when > patience_)
        result.push_back(who);
    return result;
  }

  time patience() const noexcept { return patience_; }

private:
  time patience_;
  std::map<std::uint32_t, time> last_;
};

/// How often nodes let others hear of them, when there is nothing else to say.
inline constexpr auto heartbeat_every = std::chrono::milliseconds(500);

} // namespace gossamer::actors
