#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <chrono>
#include <list>
#include <map>
#include <optional>

namespace gossamer::actors {

/// What two workers keep for each other so that each frame arrives once and in order, over links that lose, repeat,
/// delay and reorder: numbers, acknowledgements and repetitions, as in TCP. One end, both directions.
///
/// Every frame is acknowledged with the number up to which nothing is missing. The oldest frame that is not
/// acknowledged is repeated after a timeout that follows the measured round trips (RFC 6298) and doubles at each
/// repetition; sooner, when later frames have arrived without it (RFC 5681), or when it was sent before a repetition
/// that got an answer (RFC 6582): then it was probably lost with the other. A channel knows no clock and no link: its
/// owner tells the time and sends what it is given. Threads: actor-confined.
class channel {
public:
  using time = std::chrono::nanoseconds; ///< since whenever

  static constexpr time first_timeout = std::chrono::seconds(1);
  static constexpr time least_timeout = std::chrono::milliseconds(10);
  static constexpr time longest_timeout = std::chrono::seconds(10); ///< that round trips ask for
  static constexpr time longest_patience =
      std::chrono::seconds(2);           ///< that doubling leads to, unless they ask for more
  static constexpr int enough_hints = 3; ///< that later frames have arrived

  channel() = default;
  /// One over which so many frames have gone in each direction.
  explicit channel(std::uint64_t before) noexcept : sent_(before), received_(before) {}

  /// Numbers a frame. @param keep until it is acknowledged; false where links are trusted and nobody acknowledges
  void number(frame& f, time now, bool keep);
  /// The peer has everything up to `sequence`.
  /// @returns whether the next one is probably lost: call `repeat_early`
  bool acknowledged(std::uint64_t sequence, time now);
  /// A numbered frame is here. Hands on the frames whose turn it is now: none when it is early or a repetition.
  template <class Deliver>
  void arrived(frame f, Deliver deliver) {
    if (f.sequence <= received_)
      return;
    early_.try_emplace(f.sequence, std::move(f));
    for (auto next = early_.begin(); next != early_.end() && next->first == received_ + 1; next = early_.begin()) {
      ++received_;
      auto in_turn = early_.extract(next);
      deliver(std::move(in_turn.mapped()));
    }
  }
  /// The number up to which nothing is missing: what an acknowledgement says.
  std::uint64_t received() const noexcept { return received_; }

  /// When to call `repeat`; nothing while everything is acknowledged.
  std::optional<time> timeout() const noexcept;
  /// The frame to be sent again at `now`, the time of the timeout.
  const frame& repeat(time now);
  /// The frame to be sent again before its timeout.
  const frame& repeat_early(time now);

private:
  struct kept {
    frame f;
    time sent;
    bool repeated = false;
  };

  void measure(time round_trip);
  time estimate() const noexcept;

  std::uint64_t sent_ = 0;
  std::list<kept> unacknowledged_;   // which takes no memory as long as it is empty, as a deque would
  std::uint64_t repeated_until_ = 0; // the last frame that had been sent when it began to repeat
  int hints_ = 0;
  time last_progress_{}; // when the oldest frame was sent, or the one before it acknowledged
  time timeout_ = first_timeout;
  std::optional<time> smoothed_; // round trip
  time variation_{};

  std::uint64_t received_ = 0;
  std::map<std::uint64_t, frame> early_;
};

} // namespace gossamer::actors
