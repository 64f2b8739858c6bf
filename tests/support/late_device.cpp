#include "support/late_device.hpp"

#include <map>
#include <new>

namespace gossamer::test {
namespace {

constexpr std::align_val_t alignment{buffer::alignment};

struct known_ranges {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> sizes;
};

known_ranges& known() {
  static auto& all = *new known_ranges; // outlives all pools
  return all;
}

} // namespace

void* locked_memory::allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment);
  const std::lock_guard lock{known().mutex};
  known().sizes.emplace(static_cast<const std::byte*>(memory), bytes);
  return memory;
}

void locked_memory::release(void* memory) noexcept {
  {
    const std::lock_guard lock{known().mutex};
    known().sizes.erase(static_cast<const std::byte*>(memory));
  }
  ::operator delete(memory, alignment);
}

bool locked_memory::holds(const void* p) {
  const std::lock_guard lock{known().mutex};
  const auto behind = known().sizes.upper_bound(static_cast<const std::byte*>(p));
  if (behind == known().sizes.begin())
    return false;
  const auto& [begin, size] = *std::prev(behind);
  return p < begin + size;
}

} // namespace gossamer::test
