#pragma once

#include "gossamer/actors/hosting/run_picture.hpp"
#include "gossamer/actors/telemetry/clock_alignment.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gossamer::actors {

/// The moments of several processes of a run, each by a clock of its own, as one picture.
///
/// The frames between processes say what their clocks are apart (`clock_alignment`). A process that exchanged none in
/// both directions is placed by when its moments came here. Memory: 80 bytes a moment, and as much again while it is
/// drawn. Threads: one at a time.
class merged_trace {
public:
  /// @param limit on moments: later ones are left out
  explicit merged_trace(std::size_t limit = trace_recorder::default_limit) : limit_(limit) {}

  /// Opens the trace of a process. @param place as in `run_picture` @param beginning of the run, counted from 0
  /// @returns its number
  clock_alignment::process open(std::string place, std::uint32_t beginning);
  /// Adds moments of a process in its order; the last one has just happened. @param here_ns time, from any origin
  void add(clock_alignment::process from, std::span<const trace_moment> moments, std::int64_t here_ns);

  std::size_t processes() const noexcept { return processes_.size(); }
  /// Number of moments that are not here: those that processes could not tell, and those behind the limit.
  std::uint64_t left_out() const noexcept { return left_out_; }

  /// The moments by one clock, which begins with the first one, in the order of time.
  struct placed {
    trace_moment what;
    clock_alignment::process from;
  };
  std::vector<placed> in_order() const;
  void draw(run_picture& into) const;

private:
  struct process {
    std::string place;
    std::uint32_t beginning;
    std::int64_t way_ns; ///< shortest time from a moment to its arrival here, by both clocks
  };
  struct pair {
    std::size_t sent, delivered; ///< moments
  };

  std::vector<pair> frames_in(const std::vector<placed>& all) const;
  std::vector<std::int64_t> offsets(const std::vector<placed>& all, const std::vector<pair>& frames) const;

  std::size_t limit_;
  std::uint64_t left_out_ = 0;
  std::vector<process> processes_;
  std::vector<placed> moments_;
};

} // namespace gossamer::actors
