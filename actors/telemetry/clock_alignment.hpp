#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Finds what the clocks of processes are apart from the messages that they exchange, as NTP does, for any graph.
///
/// A message from p that is received by q says x_p - x_q <= received_q - sent_p, where x_p is what p's clock lacks
/// (D. Mills, "Internet time synchronization", 1991, is the case of two processes). By shortest paths, x_p lies between
/// -D(r, p) and D(p, r) for the reference r with x_r = 0, and the middle of both is taken: it satisfies all messages at
/// once, so none seems to come before it was sent, and it errs by at most half of the shortest way from r to p and
/// back, which is the difference of both ways where they are not alike.
///
/// Clocks are taken to run at one pace. Cost: O(1) a message, O(pairs * processes) for the result. Threads: as a value.
class clock_alignment {
public:
  using process = std::uint32_t;

  /// A message was sent and received, each by the clock of its process, in nanoseconds.
  void crossed(process from, std::int64_t sent_ns, process to, std::int64_t received_ns);

  /// Returns what to add to the clock of each process, by number, so that it shows the time of the reference; nothing
  /// for one that did not both reach the reference and hear of it, directly or by others.
  std::vector<std::optional<std::int64_t>> offsets(std::size_t processes, process reference) const;

private:
  std::map<std::pair<process, process>, std::int64_t> shortest_; ///< received - sent, by sender and receiver
};

} // namespace gossamer::actors
