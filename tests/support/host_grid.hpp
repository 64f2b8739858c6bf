#pragma once

#include "gossamer/base/cuda/kernel.hpp"
#include "gossamer/base/philox.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

// Runs kernels on the processor, exactly as they are written. Every thread of a block has a stack of its own, and goes
// on until it waits for others.
namespace gossamer::test {

/// The common state and the scheduler of the threads of one block.
class host_block {
public:
  /// The values that the lanes of a warp, or the warps of a block, exchange when they meet.
  struct meeting {
    explicit meeting(unsigned n) : expected(n), shown{std::vector<std::uint64_t>(n), std::vector<std::uint64_t>(n)} {}

    unsigned expected, arrived = 0;
    std::uint64_t held = 0; ///< number of past meetings
    int kind = 0;           ///< kind of the meeting that is under way
    std::vector<std::uint64_t> shown[2];
  };

  /// @param order_seed determines the order of threads between two meetings; any must do
  host_block(unsigned threads, std::size_t shared_bytes, std::uint64_t order_seed);
  ~host_block();

  /// Runs `body(thread)` for all threads. Throws std::logic_error when they wait for each other at different places.
  void run(const std::function<void(unsigned)>& body);

  /// Shows `value`. Returns when all have come, with the values that all showed.
  const std::vector<std::uint64_t>& meet(meeting& m, unsigned who, int kind, std::uint64_t value);

  unsigned threads() const { return threads_; }
  meeting& warp(unsigned w) { return warps_[w]; }
  meeting& all() { return all_; }
  void* shared() { return shared_.get(); }

private:
  struct fiber;

  void resume(fiber& f);
  void leave();
  static void enter();

  unsigned threads_;
  std::vector<meeting> warps_;
  meeting all_;
  std::unique_ptr<std::byte[]> shared_memory_;
  std::unique_ptr<std::byte, void (*)(std::byte*)> shared_{nullptr, [](std::byte*) {}};
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<unsigned> order_;
  const std::function<void(unsigned)>* body_ = nullptr;
  fiber* running_ = nullptr;
  struct scheduler;
  std::unique_ptr<scheduler> scheduler_;
};

/// Provides the operations of kernel.hpp for one thread.
class host_thread {
public:
  host_thread(host_block& block, unsigned thread, unsigned number, unsigned blocks)
      : block_(block), thread_(thread), number_(number), blocks_(blocks) {}

  unsigned thread() const { return thread_; }
  unsigned threads() const { return block_.threads(); }
  unsigned block() const { return number_; }
  unsigned blocks() const { return blocks_; }
  unsigned lane() const { return thread_ % cuda::warp_size; }
  std::uint64_t warp() const { return global() / cuda::warp_size; }
  std::uint64_t warps() const { return globals() / cuda::warp_size; }
  std::uint64_t global() const { return std::uint64_t{number_} * threads() + thread_; }
  std::uint64_t globals() const { return std::uint64_t{blocks_} * threads(); }

  template <class T>
  T& shared() const {
    return *static_cast<T*>(block_.shared());
  }

  void sync_block() { block_.meet(block_.all(), thread_, 1, 0); }
  void sync_warp() { meet_warp(2, 0); }
  std::uint32_t ballot(bool b) {
    std::uint32_t bits = 0;
    const auto& shown = meet_warp(3, b ? 1 : 0);
    for (unsigned l = 0; l < cuda::warp_size; ++l)
      bits |= static_cast<std::uint32_t>(shown[l]) << l;
    return bits;
  }
  template <class T>
  T down(T x, unsigned n) {
    return from_lane(4, x, lane() + n);
  }
  template <class T>
  T up(T x, unsigned n) {
    return from_lane(5, x, lane() - n);
  }
  template <class T>
  T from_last(T x) {
    return from_lane(6, x, cuda::warp_size - 1);
  }
  std::uint32_t add(std::uint32_t* p, std::uint32_t x) { return std::exchange(*p, *p + x); }
  void raise(std::uint32_t* p, std::uint32_t x) { *p = std::max(*p, x); }

  philox_counter random(philox_key key, std::uint64_t step, std::uint64_t group) const {
    return philox4x32_10({static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32),
                          static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32)},
                         key);
  }

private:
  const std::vector<std::uint64_t>& meet_warp(int kind, std::uint64_t value) {
    return block_.meet(block_.warp(thread_ / cuda::warp_size), lane(), kind, value);
  }
  /// Returns the value of a lane. A missing lane shows bits that make sums wrong.
  template <class T>
  T from_lane(int kind, T x, unsigned lane) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    const auto& shown = meet_warp(kind, bits);
    bits = lane < cuda::warp_size ? shown[lane] : 0xDEADBEEFDEADBEEF;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }

  host_block& block_;
  unsigned thread_, number_, blocks_;
};

/// Runs a kernel with all threads of all blocks. The seed determines the order of blocks.
template <class Kernel>
void run_on_host(cuda::grid g, std::uint64_t order_seed, const Kernel& kernel) {
  std::vector<unsigned> order(g.blocks);
  for (unsigned b = 0; b < g.blocks; ++b)
    order[b] = b;
  random_sequence{{order_seed, 0, purpose::interleaving}, 1}.shuffle(std::span{order});
  host_block block{g.threads, sizeof(typename Kernel::shared), order_seed};
  for (const auto b : order)
    block.run([&](unsigned t) {
      host_thread thread{block, t, b, g.blocks};
      kernel(thread);
    });
}

} // namespace gossamer::test
