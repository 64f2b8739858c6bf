#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gossamer::actors {

/// Saved states that survive in a process when the actors that saved them die.
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

  /// Returns the state once, and forgets it. Null when nothing was kept.
  std::shared_ptr<const bytes> take(topology::rank i) {
    const std::scoped_lock lock{mutex_};
    const auto found = of_.extract(i);
    return found ? found.mapped() : nullptr;
  }

private:
  mutable std::mutex mutex_;
  std::map<topology::rank, std::shared_ptr<const bytes>> of_;
};

} // namespace gossamer::actors
