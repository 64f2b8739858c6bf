#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gossamer::actors {

/// What survives the death of those who saved their states: the disk of a run whose actors share one process.
/// Threads: safe.
class kept_states {
public:
  using bytes = std::vector<std::byte>;

  void keep(topology::rank i, bytes state) {
    auto kept = std::make_shared<const bytes>(std::move(state));
    const std::scoped_lock lock{mutex_};
    of_[i] = std::move(kept);
  }
  /// Null when nothing was kept.
  std::shared_ptr<const bytes> last_of(topology::rank i) const {
    const std::scoped_lock lock{mutex_};
    const auto found = of_.find(i);
    return found == of_.end() ? nullptr : found->second;
  }

private:
  mutable std::mutex mutex_;
  std::map<topology::rank, std::shared_ptr<const bytes>> of_;
};

} // namespace gossamer::actors
