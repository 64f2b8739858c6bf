#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace gossamer::actors {

/// The island of each worker and master; empty where there are no islands.
using island_map = std::function<std::size_t(rank)>;
inline bool are_apart(const island_map& islands, rank i, rank j) { return islands && islands(i) != islands(j); }

/// Everything that a worker has sent, by peer: the only count of it. Threads: any; calls exclude each other.
class traffic_table {
public:
  explicit traffic_table(rank from = 0, island_map islands = {}) : from_(from), islands_(std::move(islands)) {}

  void count(rank to, const frame& f) {
    traffic one;
    one.count(f, are_apart(islands_, from_, to));
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
  const rank from_;
  const island_map islands_;
  mutable std::mutex mutex_;
  std::map<rank, traffic> to_;
  traffic total_;
};

} // namespace gossamer::actors
