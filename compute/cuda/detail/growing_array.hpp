#pragma once

#include <cstddef>
#include <optional>

namespace gossamer::compute::cuda {

/// Memory of a GPU that is kept from call to call, so that a loop that repeats itself allocates nothing.
template <class Engine, class T>
class growing_array {
public:
  /// Returns room for `size` elements. It holds the elements of the last call unless it has to grow.
  T* of(Engine& e, std::size_t size) {
    if (!memory_ || size > size_) {
      memory_.reset(); // before new memory is allocated
      memory_.emplace(e.template array<T>(size));
      size_ = size;
    }
    return memory_->data();
  }

private:
  std::optional<typename Engine::template array_of<T>> memory_;
  std::size_t size_ = 0;
};

} // namespace gossamer::compute::cuda
