#pragma once

#include "gossamer/base/error.hpp"
#include "gossamer/base/vec.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <thread>

#include "support/host_grid.hpp"
#include "support/late_device.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size)
#define ASAN_UNPOISON_MEMORY_REGION(begin, size)
#endif

namespace gossamer::test {

/// Memory that is as undefined as on a GPU. Notices a write behind its end.
template <class T>
class guarded_array {
public:
  /// @param late stream in whose order it is given back; null: at once
  guarded_array(std::uint64_t size, std::shared_ptr<late_device::stream> late)
      : late_(std::move(late)), bytes_(size * sizeof(T)), memory_(new (alignment) std::byte[bytes_ + guard]) {
    std::fill_n(memory_, bytes_, std::byte{0xCD});
    std::fill_n(memory_ + bytes_, guard, std::byte{0xA5});
    ASAN_POISON_MEMORY_REGION(memory_ + bytes_, guard);
  }
  guarded_array(guarded_array&& other) noexcept
      : late_(std::move(other.late_)), bytes_(other.bytes_), memory_(std::exchange(other.memory_, nullptr)) {}
  guarded_array& operator=(guarded_array&&) = delete;
  ~guarded_array() {
    if (memory_ == nullptr)
      return;
    if (late_)
      late_->add([memory = memory_, bytes = bytes_] { give_back(memory, bytes); });
    else
      give_back(memory_, bytes_);
  }

  T* data() const noexcept { return reinterpret_cast<T*>(memory_); }

private:
  static constexpr std::align_val_t alignment{64};
  static constexpr std::size_t guard = 64;

  static void give_back(std::byte* memory, std::size_t bytes) {
    ASAN_UNPOISON_MEMORY_REGION(memory + bytes, guard);
    EXPECT_TRUE(std::all_of(memory + bytes, memory + bytes + guard, [](auto b) { return b == std::byte{0xA5}; }))
        << "a kernel wrote behind the end of an array";
    std::fill_n(memory, bytes, std::byte{0xEE}); // makes later reads noticeable
    ::operator delete[](memory, alignment);
  }

  std::shared_ptr<late_device::stream> late_;
  std::size_t bytes_;
  std::byte* memory_;
};

/// A `cuda::device_queue` on the processor: the memory of the GPU is memory of the host. Launches run at once, unless
/// the queue is a stream of a late device.
class host_queue {
public:
  /// @param resident most blocks of a grid
  /// @param order_seed determines the order of blocks and threads
  host_queue(cuda::launch_policy policy, unsigned resident, std::uint64_t order_seed)
      : policy_(policy), resident_(resident), order_seed_(order_seed) {}

  /// Bytes that this queue and its copies have brought to the device and back.
  struct crossing {
    std::atomic<std::uint64_t> uploaded = 0, downloaded = 0;
  };
  const crossing& crossed() const { return *crossed_; }

  template <class T>
  using array_of = guarded_array<T>;

  template <class T>
  guarded_array<T> array(std::uint64_t size) const {
    work("cudaMalloc");
    return guarded_array<T>{size, late_};
  }
  template <class T>
  guarded_array<T> zeros(std::uint64_t size) const {
    auto result = array<T>(size);
    clear(result.data(), size);
    return result;
  }
  template <class T>
  void clear(T* from, std::uint64_t size) const {
    submit([=] { std::memset(static_cast<void*>(from), 0, size * sizeof(T)); });
  }
  buffer_pool& host_pool() const { return pool_; }
  void keep(buffer memory) const {
    submit([memory = std::move(memory)] {});
  }

  template <class T>
  void upload(T* to, std::span<const T> from) const {
    work("upload");
    crossed_->uploaded += from.size_bytes();
    if (!late_ || locked_memory::holds(from.data()))
      submit([=] { std::copy_n(from.data(), from.size(), to); });
    else
      submit([=, staged = std::vector<T>(from.begin(), from.end())] { std::ranges::copy(staged, to); });
  }
  template <class T>
  void download(std::span<T> to, const T* from) const {
    work("download");
    crossed_->downloaded += to.size_bytes();
    submit([=] { std::copy_n(from, to.size(), to.data()); });
    if (late_ && !locked_memory::holds(to.data()))
      late_->wait();
  }
  void wait() const {
    work("wait");
    if (late_)
      late_->wait();
  }
  void follow(const host_queue& other) const {
    if (late_)
      late_->follow(*other.late_);
  }
  /// Runs f in another thread, as a driver does, also when the GPU has failed.
  void then(std::function<void()> f) const { std::thread{std::move(f)}.join(); }
  bool same_memory(const host_queue& other) const { return memory_ == other.memory_; }
  /// Pretends to be a queue of the GPU with this number.
  void use_memory(int number) { memory_ = number; }
  /// Loses the device of this queue and its copies after this number of allocations, kernels, copies and waits.
  void lose_after(std::int64_t operations) { left_ = std::make_shared<std::atomic<std::int64_t>>(operations); }

  template <class Kernel>
  void launch(std::uint64_t pieces, const Kernel& kernel) const {
    work(Kernel::name);
    run(policy_.for_pieces(pieces, resident_), kernel);
  }
  template <class Kernel>
  void launch_block(const Kernel& kernel) const {
    work(Kernel::name);
    run({1, policy_.threads}, kernel);
  }

  /// Makes this queue, its copies and those beside it streams of that device from now on.
  void work_late(const std::shared_ptr<late_device>& device) { late_ = device->make_stream(); }

protected:
  /// Becomes another queue of the same device.
  void become_another() {
    if (late_)
      late_ = late_->beside();
  }
  void submit(std::function<void()> f) const {
    if (late_)
      late_->add(std::move(f));
    else
      f();
  }

private:
  template <class Kernel>
  void run(cuda::grid g, const Kernel& kernel) const {
    submit([g, order = order_seed_, kernel] { run_on_host(g, order, kernel); });
  }

  void work(const char* name) const {
    if (left_ && --*left_ < 0)
      throw error(errc::device, fmt::format("'{}' failed on cuda:0: the test has pulled the plug", name));
  }

  cuda::launch_policy policy_;
  unsigned resident_;
  std::uint64_t order_seed_;
  int memory_ = 0;
  std::shared_ptr<std::atomic<std::int64_t>> left_;
  std::shared_ptr<crossing> crossed_ = std::make_shared<crossing>();
  std::shared_ptr<late_device::stream> late_; ///< null: work runs at once
  mutable buffer_pool pool_{locked_memory::source()};
};

} // namespace gossamer::test
