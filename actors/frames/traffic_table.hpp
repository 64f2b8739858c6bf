#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <map>
#include <mutex>

namespace gossamer::actors {

/// Everything that a worker has sent, by peer: the only count of it. Threads: any; calls exclude each other.
class traffic_table {
public:
  void count(rank to, const frame& f) {
    const std::scoped_lock lock{mutex_};
    to_[to].count(f);
  }
  std::map<rank, traffic> by_peer() const {
    const std::scoped_lock lock{mutex_};
    return to_;
  }
  /// Cost: linear in the number of peers.
  traffic total() const {
    const std::scoped_lock lock{mutex_};
    traffic sum;
    for (const auto& [peer, sent] : to_)
      sum += sent;
    return sum;
  }

private:
  mutable std::mutex mutex_;
  std::map<rank, traffic> to_;
};

} // namespace gossamer::actors
