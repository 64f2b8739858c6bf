#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <map>
#include <mutex>

namespace gossamer::actors {

/// Everything that a worker has sent, by peer: the only count of it. Threads: any; calls exclude each other.
class traffic_table {
public:
  void count(rank to, const frame& f) {
    traffic one;
    one.count(f);
    const std::scoped_lock lock{mutex_};
    to_[to] += one;
    total_ += one;
  }
  std::map<rank, traffic> by_peer() const {
    const std::scoped_lock lock{mutex_};
    return to_;
  }
  traffic total() const { // asked for in each step
    const std::scoped_lock lock{mutex_};
    return total_;
  }

private:
  mutable std::mutex mutex_;
  std::map<rank, traffic> to_;
  traffic total_;
};

} // namespace gossamer::actors
