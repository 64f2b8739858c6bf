#include "gossamer/base/buffer.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <malloc.h>
#include <mutex>
#include <new>

namespace gossamer {

namespace detail {

/// The head of an allocation; the bytes follow one alignment unit behind its start.
struct buffer_block {
  std::atomic<std::size_t> references{1};
  std::shared_ptr<pool_core> owner; // set while handed out, so that a pool outlives its buffers but not itself
  buffer_block* next_free = nullptr;
  std::size_t size_class = 0;

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this) + buffer::alignment; }
};
static_assert(sizeof(buffer_block) <= buffer::alignment);

namespace {
constexpr std::size_t smallest = 64;
constexpr std::size_t classes = 4 * 48;

/// Capacities grow as 64 * {1, 1.25, 1.5, 1.75} * 2^k.
constexpr std::size_t capacity_of(std::size_t size_class) {
  return (smallest << (size_class / 4)) / 4 * (4 + size_class % 4);
}

constexpr std::size_t class_of(std::size_t size) {
  if (size <= smallest)
    return 0;
  auto doubling = static_cast<std::size_t>(std::bit_width((size - 1) / smallest)) - 1;
  auto quarter = (smallest << doubling) / 4;
  return 4 * doubling + (size - 1 - (smallest << doubling)) / quarter + 1;
}
static_assert(capacity_of(class_of(64)) == 64 && capacity_of(class_of(65)) == 80);
static_assert(capacity_of(class_of(128)) == 128 && capacity_of(class_of(129)) == 160);

constexpr memory_source plain_memory{
    .allocate = [](std::size_t bytes) { return ::operator new (bytes, std::align_val_t{buffer::alignment}); },
    .release = [](void* memory) noexcept { ::operator delete (memory, std::align_val_t{buffer::alignment}); },
    .takes_back = true};

constexpr std::size_t worth_a_trim = 1 << 20; ///< bytes

/// Returns what the heap holds free to the system. Otherwise glibc keeps all that lies below a block in use.
void return_free_pages() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// The free blocks of a size class, the last one that came back first.
class shelf {
public:
  buffer_block* take() noexcept {
    auto* block = first_;
    if (!block)
      return nullptr;
    first_ = block->next_free;
    fewest_ = std::min(fewest_, --count_);
    return block;
  }

  void put_back(buffer_block* block) noexcept {
    block->next_free = std::exchange(first_, block);
    ++count_;
    ++returns_;
  }

  /// Takes out the blocks that have not been needed since this was due last. @returns a chain, null before it is due
  buffer_block* surplus() noexcept {
    if (returns_ < buffer_pool::surplus_after)
      return nullptr;
    returns_ = 0;
    buffer_block* chain = nullptr;
    for (auto left = std::exchange(fewest_, count_ - fewest_); left > 0; --left, --count_) {
      auto* block = std::exchange(first_, first_->next_free);
      block->next_free = std::exchange(chain, block);
    }
    return chain;
  }

  buffer_block* all() noexcept { return std::exchange(first_, nullptr); }

private:
  buffer_block* first_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t fewest_ = 0;  ///< least of `count_` since `surplus` was due
  std::uint32_t returns_ = 0; ///< since `surplus` was due
};
} // namespace

struct pool_core {
  explicit pool_core(memory_source s) : source(s) {}

  memory_source source;
  std::mutex mutex;
  std::array<shelf, classes> shelves{};
  std::atomic<std::size_t> created{0}, released{0}, in_use{0};

  ~pool_core() {
    for (auto& one : shelves)
      release(one.all());
  }

  /// @returns number of bytes
  std::size_t release(buffer_block* chain) noexcept {
    std::size_t bytes = 0;
    while (chain) {
      auto* block = std::exchange(chain, chain->next_free);
      bytes += capacity_of(block->size_class);
      block->~buffer_block();
      source.release(block);
      released.fetch_add(1, std::memory_order_relaxed);
    }
    return bytes;
  }

  buffer_block* take(std::size_t size_class) {
    std::lock_guard lock{mutex};
    return shelves[size_class].take();
  }

  void put_back(buffer_block* block) noexcept {
    buffer_block* surplus = nullptr;
    {
      std::lock_guard lock{mutex};
      auto& where = shelves[block->size_class];
      where.put_back(block);
      if (source.takes_back)
        surplus = where.surplus();
    }
    if (release(surplus) > worth_a_trim)
      return_free_pages();
  }
};

} // namespace detail

buffer::buffer(const buffer& other) noexcept : block_(other.block_), begin_(other.begin_), size_(other.size_) {
  if (block_)
    block_->references.fetch_add(1, std::memory_order_relaxed);
}

buffer::~buffer() {
  if (!block_ || block_->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  auto owner = std::move(block_->owner); // may be the last reference to the pool: released after the block is back
  owner->in_use.fetch_sub(1, std::memory_order_relaxed);
  owner->put_back(block_);
}

const std::byte* buffer::data() const noexcept { return block_ ? block_->bytes() + begin_ : nullptr; }

std::byte* buffer::data() noexcept { return block_ ? block_->bytes() + begin_ : nullptr; }

bool buffer::unique() const noexcept { return !block_ || block_->references.load(std::memory_order_acquire) == 1; }

buffer buffer::part(std::size_t begin, std::size_t size) const noexcept {
  GOSSAMER_ASSERT(begin <= size_ && size <= size_ - begin, "a part of a buffer lies within it");
  buffer result = *this;
  result.begin_ += begin;
  result.size_ = size;
  return result;
}

void buffer::truncate(std::size_t size) noexcept {
  GOSSAMER_ASSERT(size <= size_, "a buffer is truncated to at most its size");
  size_ = size;
}

buffer_pool buffer::pool() const noexcept {
  GOSSAMER_ASSERT(block_, "only a buffer that holds something has a pool");
  return buffer_pool{block_->owner};
}

buffer_pool::buffer_pool() : buffer_pool(detail::plain_memory) {}

buffer_pool::buffer_pool(memory_source source) : core_(std::make_shared<detail::pool_core>(source)) {}

buffer buffer_pool::allocate(std::size_t size) {
  const auto size_class = detail::class_of(size);
  if (size_class >= detail::classes)
    throw std::bad_alloc{};
  auto* block = core_->take(size_class);
  if (!block) {
    void* memory = core_->source.allocate(buffer::alignment + detail::capacity_of(size_class));
    block = new (memory) detail::buffer_block;
    block->size_class = size_class;
    core_->created.fetch_add(1, std::memory_order_relaxed);
  }
  block->references.store(1, std::memory_order_relaxed);
  block->owner = core_;
  core_->in_use.fetch_add(1, std::memory_order_relaxed);
  return buffer{block, size};
}

std::size_t buffer_pool::blocks_created() const noexcept { return core_->created; }

std::size_t buffer_pool::blocks_held() const noexcept { return core_->created - core_->released; }

std::size_t buffer_pool::blocks_in_use() const noexcept { return core_->in_use; }

} // namespace gossamer
