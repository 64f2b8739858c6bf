#pragma once

#include <algorithm>
#include <cstdint>

// Kernels are written once, as functors over a thread:
//
//     struct add_one {
//       static constexpr const char* name = "add_one"; // for errors
//       struct shared {};                              // memory that the threads of a block share
//       float* x;
//       std::uint64_t size;
//       template <class Thread>
//       GOSSAMER_KERNEL void operator()(Thread& t) const {
//         for (auto i = t.global(); i < size; i += t.globals())
//           x[i] += 1;
//       }
//     };
//
// On a GPU the thread is `cuda::device_thread` (detail/launch.cuh), in tests one of tests/support/host_grid.hpp, which
// runs all threads of all blocks on the processor. A thread offers
//
//     thread(), threads(), block(), blocks()   its place in the grid
//     lane(), warp(), warps()                  its place in its warp of 32, and that of the warp among all of the grid
//     global(), globals()                      its place among all threads
//     shared<T>()                              the block's memory
//     sync_block(), sync_warp()                no thread goes on before all have come
//     ballot(b)                                bit l is b of lane l
//     down(x, n), up(x, n)                     x of the lane n behind or before; any value where there is none
//     from_last(x)                             x of the last lane
//     add(p, x), raise(p, x)                   *p += x, *p = max(*p, x), atomically; `add` gives the former value
//     random(key, step, group)                 four words of a random_stream
//
// All threads of a block must reach the same sync_block, all lanes of a warp the same sync_warp, ballot,
// down, up and from_last.

/// Marks the body of a kernel and what only kernels call.
#ifdef __CUDACC__
#define GOSSAMER_KERNEL __device__
#define GOSSAMER_UNROLL _Pragma("unroll")
#else
#define GOSSAMER_KERNEL
#define GOSSAMER_UNROLL
#endif

namespace gossamer::cuda {

/// Number of threads that run a kernel.
struct grid {
  unsigned blocks, threads;
};

inline constexpr unsigned warp_size = 32;

/// ceil(work / each).
constexpr std::uint64_t shares(std::uint64_t work, std::uint64_t each) noexcept { return (work + each - 1) / each; }

/// Returns the number of warps of a kernel whose threads take `each_thread` elements each.
constexpr std::uint64_t warps_for(std::uint64_t elements, unsigned each_thread) noexcept {
  return shares(elements, each_thread * warp_size);
}

/// The sizes of grids: warps take pieces of work in turn, and there are no more blocks than run at once.
struct launch_policy {
  static constexpr unsigned most_threads = 256;

  unsigned threads = most_threads; ///< per block; a multiple of 32

  /// @param pieces   pieces of work, which warps take one at a time; a grid has at least one block
  /// @param resident blocks of this kernel that run at once
  constexpr grid for_pieces(std::uint64_t pieces, unsigned resident) const noexcept {
    const std::uint64_t warps = threads / warp_size;
    return {static_cast<unsigned>(std::clamp<std::uint64_t>(shares(pieces, warps), 1, resident)), threads};
  }
};

} // namespace gossamer::cuda
