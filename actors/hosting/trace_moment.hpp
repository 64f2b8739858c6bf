#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::actors {

/// Something that a worker or master of a process did, for a picture of the run.
struct trace_moment {
  enum class kind : std::uint8_t {
    begins,      ///< the trace of this process; `who`: number of ranks for workers
    gradient,    ///< computed until now, of step `label.step`, in `value` nanoseconds
    encode,      ///< until now, in `value` nanoseconds
    decode,      ///< likewise
    sent,        ///< the frame `label` to `other`, of `value` bytes
    delivered,   ///< the frame `label` from `other`, in the receiver's turn
    view,        ///< number `value` is adopted
    wait_begins, ///< for a frame of `other`
    wait_ends,   ///< with a frame or without
    pause,       ///< from now on, for `value` nanoseconds or until training is over
    ends,        ///< the worker
    over,        ///< the trace of this process; `value`: moments that were left out
  };

  kind what = kind::begins;
  std::int64_t at_ns = 0; ///< by the clock of its process
  rank who = 0, other = 0;
  std::uint32_t incarnation = 0; ///< of a frame's sender
  tag label{frame_kind::model};  ///< of a frame
  std::int64_t value = 0;        ///< never negative

  friend bool operator==(const trace_moment&, const trace_moment&) = default;
};

/// Moments as whole numbers in text, for another process: about 40 bytes each.
std::string to_text(std::span<const trace_moment> moments);
/// Reads the output of `to_text`, from another process. @error errc::bad_data
std::vector<trace_moment> moments_from(std::string_view text);

} // namespace gossamer::actors
