#pragma once

#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace gossamer::actors {

/// Detects that virtual time stands still: where messages take no time, an algorithm that sends one after the other
/// never lets it go on. Threads: one at a time.
class standstill {
public:
  explicit standstill(std::uint64_t participants)
      : most_at_the_end_(20'000 + 100 * participants), most_(most_at_the_end_ + 100 * participants * participants) {}

  /// Notes that time has gone on, or a gradient is done.
  void over() noexcept { messages_ = 0; }
  /// Lowers the limit once the end of the run is being announced, by messages that may take no time.
  void hurry() noexcept {
    most_ = most_at_the_end_;
    messages_ = 0;
  }

  /// Counts a message that is about to be handled.
  /// @error errc::usage after more messages without time than any round of that many workers takes
  void count(virtual_time now) {
    if (++messages_ > most_)
      throw error(errc::usage,
                  fmt::format("time stands still at {:.9g} s: {} messages were handled, which took no time, and no "
                              "gradient was done",
                              to_seconds(now), messages_),
                  "let messages take time: with costs (not --cost none), or over a network with a latency, and with "
                  "one worker a node");
  }

private:
  std::uint64_t most_at_the_end_;
  std::uint64_t most_;
  std::uint64_t messages_ = 0;
};

} // namespace gossamer::actors
