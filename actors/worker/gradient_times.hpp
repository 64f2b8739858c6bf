#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace gossamer::actors {

/// The last times that a worker's gradients have taken. Threads: one at a time.
class gradient_times {
public:
  void add(std::chrono::nanoseconds took) { last_[added_++ % last_.size()] = took; }
  /// The median of the last five, or of fewer, the upper one of an even number; 0 before the first. A single hiccup
  /// does not move it.
  std::chrono::nanoseconds median() const {
    auto sorted = last_;
    const auto known = std::min(added_, sorted.size());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(known / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(known));
    return known == 0 ? std::chrono::nanoseconds{0} : *middle;
  }

private:
  std::array<std::chrono::nanoseconds, 5> last_{};
  std::size_t added_ = 0;
};

} // namespace gossamer::actors
