#pragma once

#include "gossamer/base/cuda/detail/check.hpp"
#include "gossamer/base/cuda/kernel.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/philox.hpp"

#include <curand_kernel.h>
#include <functional>

// A thread of a GPU, and a queue that launches kernels. Only sources under */cuda/ that nvcc compiles include this
// header. nvcc cannot compile fmt's checked formats, so sentences of errors belong into .cpp files.
namespace gossamer::cuda {

/// The thread of kernel.hpp, on the instructions of the GPU.
class device_thread {
public:
  __device__ explicit device_thread(void* shared) : shared_(shared) {}

  __device__ unsigned thread() const { return threadIdx.x; }
  __device__ unsigned threads() const { return blockDim.x; }
  __device__ unsigned block() const { return blockIdx.x; }
  __device__ unsigned blocks() const { return gridDim.x; }
  __device__ unsigned lane() const { return threadIdx.x % warp_size; }
  __device__ std::uint64_t warp() const { return global() / warp_size; }
  __device__ std::uint64_t warps() const { return globals() / warp_size; }
  __device__ std::uint64_t global() const { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
  __device__ std::uint64_t globals() const { return std::uint64_t{gridDim.x} * blockDim.x; }

  template <class T>
  __device__ T& shared() const {
    return *static_cast<T*>(shared_);
  }

  __device__ void sync_block() const { __syncthreads(); }
  __device__ void sync_warp() const { __syncwarp(); }
  __device__ std::uint32_t ballot(bool b) const { return __ballot_sync(0xFFFFFFFFu, b); }
  template <class T>
  __device__ T down(T x, unsigned n) const {
    return __shfl_down_sync(0xFFFFFFFFu, x, n);
  }
  template <class T>
  __device__ T up(T x, unsigned n) const {
    return __shfl_up_sync(0xFFFFFFFFu, x, n);
  }
  template <class T>
  __device__ T from_last(T x) const {
    return __shfl_sync(0xFFFFFFFFu, x, warp_size - 1);
  }
  __device__ std::uint32_t add(std::uint32_t* p, std::uint32_t x) const { return atomicAdd(p, x); }
  __device__ void raise(std::uint32_t* p, std::uint32_t x) const { atomicMax(p, x); }

  /// Computed by cuRAND from the state that `curand_init(key, step, 4 * group)` makes, without its fields that are not
  /// needed here.
  __device__ philox_counter random(philox_key key, std::uint64_t step, std::uint64_t group) const {
    const auto words = curand_Philox4x32_10(make_uint4(static_cast<unsigned>(group), static_cast<unsigned>(group >> 32),
                                                       static_cast<unsigned>(step), static_cast<unsigned>(step >> 32)),
                                            make_uint2(key[0], key[1]));
    return {words.x, words.y, words.z, words.w};
  }

private:
  void* shared_;
};

template <class Kernel>
__global__ void run_kernel(const Kernel kernel) {
  __shared__ alignas(16) unsigned char shared[sizeof(typename Kernel::shared)];
  device_thread thread{shared};
  kernel(thread);
}

/// An array on the GPU that lives as long as this handle.
template <class T>
class device_array {
public:
  device_array(const stream& s, std::uint64_t size) : memory_(s, size * sizeof(T)) {}

  T* data() const noexcept { return memory_.template as<T>(); }

private:
  device_buffer memory_;
};

/// Work on a GPU, in order. Steps of codecs and models are written over a queue of this form, so that tests run the
/// same steps on the processor (tests/support/host_queue.hpp). Threads: any, as a stream.
class device_queue {
public:
  explicit device_queue(const stream& s, launch_policy policy = {}) : stream_(s), policy_(policy) {}

  template <class T>
  using array_of = device_array<T>;

  template <class T>
  device_array<T> array(std::uint64_t size) const {
    return {stream_, size};
  }
  template <class T>
  device_array<T> zeros(std::uint64_t size) const {
    device_array<T> result{stream_, size};
    clear(result.data(), size);
    return result;
  }
  template <class T>
  void clear(T* from, std::uint64_t size) const {
    cuda::clear(stream_, reinterpret_cast<std::byte*>(from), size * sizeof(T));
  }
  /// Page-locked host memory, with which copies are fast.
  buffer_pool& host_pool() const { return pinned_pool(); }
  void keep(buffer memory) const { stream_.keep(std::move(memory)); }

  template <class T>
  void upload(T* to, std::span<const T> from) const {
    cuda::upload(stream_, reinterpret_cast<std::byte*>(to), std::as_bytes(from));
  }
  template <class T>
  void download(std::span<T> to, const T* from) const {
    cuda::download(stream_, std::as_writable_bytes(to), reinterpret_cast<const std::byte*>(from));
  }
  void wait() const { stream_.wait(); }
  void follow(const device_queue& other) const { stream_.follow(other.stream_); }
  void then(std::function<void()> f) const { stream_.then(std::move(f)); }
  bool same_memory(const device_queue& other) const { return stream_.gpu() == other.stream_.gpu(); }

  /// Runs a kernel whose warps take pieces of work in turn.
  template <class Kernel>
  void launch(std::uint64_t pieces, const Kernel& kernel) const {
    int blocks = 0; // on one multiprocessor
    stream_.make_present();
    detail::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_kernel<Kernel>,
                                                                static_cast<int>(policy_.threads), 0),
                  Kernel::name);
    launch_on(policy_.for_pieces(pieces, static_cast<unsigned>(blocks * stream_.multiprocessors())), kernel);
  }
  /// Runs a kernel by a single block.
  template <class Kernel>
  void launch_block(const Kernel& kernel) const {
    launch_on({1, policy_.threads}, kernel);
  }

private:
  template <class Kernel>
  void launch_on(grid g, const Kernel& kernel) const {
    stream_.make_present();
    stream_.launching();
    run_kernel<<<g.blocks, g.threads, 0, static_cast<cudaStream_t>(stream_.native())>>>(kernel);
    stream_.launched(Kernel::name);
  }

  stream stream_;
  launch_policy policy_;
};

} // namespace gossamer::cuda
