#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <chrono>
#include <list>
#include <map>
#include <optional>

namespace gossamer::actors {

/// One end of the numbered connection of two workers, both directions. Numbers, acknowledgements and repetitions, as in
/// TCP, make each frame arrive once and in order over links that lose, repeat, delay and reorder.
///
/// Every frame is acknowledged with the number up to which nothing is missing. The oldest frame that is not
/// acknowledged is repeated after a timeout that follows the measured round trips (RFC 6298) and doubles at each
/// repetition. It is repeated sooner when later frames have arrived without it (RFC 5681), or when it was sent before a
/// repetition that got an answer (RFC 6582): it was then probably lost together with the repeated frame. A channel has
/// no clock and no link: its owner tells the time and sends the frames that it returns. Threads: actor-confined.
class channel {
public:
  using time = std::chrono::nanoseconds; ///< measured from any fixed moment

  static constexpr time first_timeout = std::chrono::seconds(1);
  static constexpr time least_timeout = std::chrono::milliseconds(10);
  static constexpr time longest_timeout = std::chrono::seconds(10); ///< limit of the timeout that round trips lead to
  static constexpr time longest_patience =
      std::chrono::seconds(2);           ///< limit of doubling, unless round trips ask for more
  static constexpr int enough_hints = 3; ///< signs that later frames have arrived

  channel() = default;
  /// A channel over which `before` frames have gone in each direction.
  explicit channel(std::uint64_t before) noexcept : sent_(before), received_(before) {}

  /// Numbers a frame. @param keep until it is acknowledged; false where links are trusted and receivers send no
  /// acknowledgements
  void number(frame& f, time now, bool keep);
  /// Notes that the peer has every frame up to `sequence`.
  /// @returns whether the next frame is probably lost: call `repeat_early`
  bool acknowledged(std::uint64_t sequence, time now);
  /// Takes a numbered frame and hands on the frames that are now in turn: none if it is early or a repetition.
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
  /// The number up to which no frame is missing, for acknowledgements.
  std::uint64_t received() const noexcept { return received_; }

  /// When to call `repeat`; `nullopt` while everything is acknowledged.
  std::optional<time> timeout() const noexcept;
  /// Returns the frame to be sent again at `now`, the time of the timeout.
  const frame& repeat(time now);
  /// Returns the frame to be sent again before its timeout.
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
  std::list<kept> unacknowledged_;   // an empty list takes no memory, an empty deque does
  std::uint64_t repeated_until_ = 0; // last frame that had been sent when the repetitions began
  std::uint64_t held_up_until_ = 0;  // last frame that had been sent at the last repetition: it waited for that
  int hints_ = 0;
  time last_progress_{}; // when the oldest frame was sent, or the frame before it acknowledged
  time timeout_ = first_timeout;
  std::optional<time> smoothed_; // mean round trip
  time variation_{};

  std::uint64_t received_ = 0;
  std::map<std::uint64_t, frame> early_;
};

} // namespace gossamer::actors
