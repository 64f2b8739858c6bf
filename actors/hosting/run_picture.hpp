#pragma once

#include "gossamer/actors/hosting/trace_moment.hpp"
#include "gossamer/actors/telemetry/trace.hpp"

#include <compare>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace gossamer::actors {

/// Draws moments, which come in the order of time, in the rows of a simulated run's picture: waits of the workers,
/// their gradients, their encoding and decoding, and frames whose sending and delivery are both known.
///
/// Cost: tens of nanoseconds a moment; the memory of a `trace_recorder`, and 64 bytes for each of at most 65,536 frames
/// under way. Threads: one at a time.
class run_picture {
public:
  explicit run_picture(std::size_t limit = trace_recorder::default_limit) : recorder_(limit) {}

  /// @param place in front of the names of groups: "node 1: "; empty where there is one process
  void draw(const trace_moment& m, const std::string& place = "");
  /// What follows belongs to another beginning of the run, whose frames may be called like earlier ones.
  void begin_again();
  std::size_t events() const noexcept { return recorder_.events(); }
  /// Writes the picture as a file for Perfetto. See `trace_recorder::write`.
  void write(std::FILE* out) const { recorder_.write(out); }

private:
  /// Of a frame between two workers. No two of one beginning have the same.
  struct way {
    rank from, to;
    std::uint32_t incarnation;
    tag label;
    friend auto operator<=>(const way&, const way&) = default;
  };
  struct wait {
    rank whom;
    std::int64_t since_ns;
  };

  trace_track track(const std::string& group, rank who);
  trace_track link(rank from, rank to);
  void draw_work(const trace_moment& m, const std::string& group, const char* name);
  void draw_frame(const trace_moment& m);
  void draw_wait(const trace_moment& m, const std::string& place);

  rank first_master_ = 0;
  trace_recorder recorder_;
  std::map<rank, std::vector<wait>> waits_;
  std::map<way, std::int64_t> under_way_;       ///< when they were sent
  std::map<rank, std::int64_t> last_delivered_; ///< to a worker
};

} // namespace gossamer::actors
