#pragma once

#include "gossamer/base/cuda/detail/memory_access.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/vec.hpp"

#include <atomic>
#include <mutex>
#include <optional>

// A vec's elements in the memory that a queue's kernels work in: that of a GPU (launch.cuh), or in tests that of the
// host (tests/support/host_queue.hpp).
namespace gossamer::cuda {

/// y += a x, or y = a x.
template <bool adds>
struct scaled_elements {
  static constexpr const char* name = adds ? "add_scaled_elements" : "scale_elements";
  struct shared {};

  const float* x;
  float a;
  float* y;
  std::uint64_t size;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals()) {
      auto values = load_four(x, first, size);
      if constexpr (adds) {
        add_four(y, first, size, a, values);
      } else {
        for (unsigned j = 0; j < 4; ++j)
          values.x[j] *= a;
        store_four(y, first, size, values);
      }
    }
  }
};

using add_scaled_elements = scaled_elements<true>;
using scale_elements = scaled_elements<false>;

/// Elements in the memory of a queue, which does all arithmetic with them in order. Vectors of one worker have one
/// queue in common; where operands have different ones, these wait for each other.
template <class Queue>
class queue_vec final : public device_vec {
public:
  /// Leaves the elements unspecified.
  queue_vec(std::shared_ptr<Queue> queue, std::size_t size)
      : queue_(std::move(queue)), size_(size), memory_(queue_->template array<float>(size)) {}

  /// Returns v's elements; null if they are in other memory.
  static std::shared_ptr<queue_vec> of(const vec& v) { return std::dynamic_pointer_cast<queue_vec>(v.remote()); }
  /// Returns the queue of v's elements; null if they are in other memory.
  static std::shared_ptr<Queue> queue_of(const vec& v) {
    const auto here = of(v);
    return here ? here->queue_ : nullptr;
  }
  /// Returns v's elements in the memory of that queue; copies them there if they are elsewhere.
  static std::shared_ptr<queue_vec> in(const std::shared_ptr<Queue>& queue, const vec& v) {
    if (auto here = of(v); here && here->queue_->same_memory(*queue))
      return here;
    return product(queue, 1, v);
  }
  static std::shared_ptr<queue_vec> zeros_in(const std::shared_ptr<Queue>& queue, std::size_t size) {
    auto result = std::make_shared<queue_vec>(queue, size);
    queue->clear(result->memory_.data(), size);
    return result;
  }

  /// Returns v's elements for kernels on that queue that change them. Copies elements that another queue or the host
  /// holds, or that other vectors share.
  static std::span<float> owned(const std::shared_ptr<Queue>& queue, vec& v) {
    auto* here = dynamic_cast<queue_vec*>(v.remote().get());
    if (here == nullptr || here->queue_ != queue || v.remote().use_count() > 1) {
      auto copy = product(queue, 1, v);
      here = copy.get();
      v = vec{std::move(copy)};
    }
    std::atomic_thread_fence(std::memory_order_acquire); // sees the writes of former owners before they let go
    return here->mutate();
  }
  /// Calls work(v's elements), which queues kernels that read them. Copies elements that are elsewhere.
  template <class Work>
  static void lend(const std::shared_ptr<Queue>& queue, const vec& v, Work work) {
    const auto here = in(queue, v);
    work(here->readable_by(*queue));
    here->queue_->follow(*queue); // these kernels end before it gives the memory to others
  }

  Queue& queue() const noexcept { return *queue_; }
  std::span<const float> elements() const noexcept { return {memory_.data(), size_}; }
  /// Returns the elements for kernels on this queue. Requires a single owner.
  std::span<float> mutate() {
    forget_copy();
    return {memory_.data(), size_};
  }
  /// Returns the elements for kernels on `reader`. The caller keeps the elements until these are done.
  std::span<const float> readable_by(const Queue& reader) const {
    reader.follow(*queue_);
    return elements();
  }

  std::size_t size() const noexcept override { return size_; }
  buffer_pool pool() const override { return queue_->host_pool(); }

  const buffer& on_host() const override {
    const std::lock_guard lock{mutex_};
    if (!copy_) {
      auto copy = queue_->host_pool().allocate(size_ * sizeof(float));
      queue_->download(std::span{reinterpret_cast<float*>(copy.data()), size_}, elements().data());
      queue_->wait();
      copy_ = std::move(copy);
    }
    return *copy_;
  }

  std::shared_ptr<device_vec> scaled(float a, const vec& v) const override { return product(queue_, a, v); }
  std::shared_ptr<device_vec> zeros(std::size_t size) const override { return zeros_in(queue_, size); }

  void add(float a, const vec& x) override {
    forget_copy();
    if (x.remote() && x.remote()->add_to(*this, a))
      return;
    lend(queue_, x, [&](std::span<const float> from) {
      queue_->launch(warps_for(size_, 4), add_scaled_elements{from.data(), a, memory_.data(), size_});
    });
  }

  /// Returns a v in the memory of that queue; v may be anywhere.
  static std::shared_ptr<queue_vec> product(const std::shared_ptr<Queue>& queue, float a, const vec& v) {
    auto result = std::make_shared<queue_vec>(queue, v.size());
    auto* to = result->memory_.data();
    if (const auto here = of(v); here && here->queue_->same_memory(*queue)) {
      queue->launch(warps_for(v.size(), 4), scale_elements{here->readable_by(*queue).data(), a, to, v.size()});
      here->queue_->follow(*queue);
      return result;
    }
    if (v.remote()) {
      queue->clear(to, v.size());
      if (v.remote()->add_to(*result, a))
        return result;
    }
    queue->upload(to, v.view());
    queue->keep(v.storage());
    if (a != 1)
      queue->launch(warps_for(v.size(), 4), scale_elements{to, a, to, v.size()});
    return result;
  }

private:
  void forget_copy() {
    const std::lock_guard lock{mutex_};
    copy_.reset();
  }

  std::shared_ptr<Queue> queue_;
  std::size_t size_;
  typename Queue::template array_of<float> memory_;
  mutable std::mutex mutex_;
  mutable std::optional<buffer> copy_; ///< in the memory of the host
};

} // namespace gossamer::cuda
