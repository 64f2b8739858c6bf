#include "gossamer/actors/data_plane/arrivals.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

void arrivals::deliver(std::uint32_t from_node, life to, frame f) {
  last_was_short_ = f.wire_bytes() <= slice_bytes;
  if (const auto sink = sinks_.find(to)) {
    attached(to.who);
    (*sink)(std::move(f));
  } else if (here_.contains(to.who) && !sinks_.is_over(to)) {
    keep(from_node, to, std::move(f));
  }
}

void arrivals::keep(std::uint32_t from_node, life to, frame f) {
  auto& total = totals_[from_node];
  const auto bytes = f.wire_bytes();
  if (total.frames == most_.most_waiting_frames || total.bytes + bytes > most_.most_waiting_bytes)
    throw error(errc::bad_packet,
                fmt::format("{} frames of {} bytes wait for workers that have not begun, and rank {} sent another",
                            total.frames, total.bytes, f.source),
                {});
  ++total.frames;
  total.bytes += bytes;
  waiting_[to].push_back({from_node, bytes, std::move(f)});
}

void arrivals::attached(rank who) {
  for (auto next = waiting_.lower_bound({who, 0}); next != waiting_.end() && next->first.who == who;) {
    const auto sink = sinks_.find(next->first);
    if (!sink && !sinks_.is_over(next->first)) {
      ++next;
      continue;
    }
    for (auto& queue = next->second; !queue.empty();) {
      auto w = std::move(queue.front());
      queue.pop_front(); // first: a sink that throws costs the one frame
      auto& total = totals_[w.from_node];
      --total.frames;
      total.bytes -= w.bytes;
      if (sink)
        (*sink)(std::move(w.f));
    }
    next = waiting_.erase(next);
  }
}

} // namespace gossamer::actors
