#pragma once

#include "gossamer/base/cuda/detail/memory_access.hpp"
#include "gossamer/base/host_device.hpp"

// Sums in double precision, in the one order of base/vec.hpp.
namespace gossamer::cuda {

/// The terms of a sum.
struct squares {
  using source = float;
  GOSSAMER_HD static double term(float x) noexcept { return static_cast<double>(x) * static_cast<double>(x); }
};
struct magnitudes {
  using source = float;
  GOSSAMER_HD static double term(float x) noexcept { return static_cast<double>(x < 0 ? -x : x); }
};
struct block_sums {
  using source = double;
  GOSSAMER_HD static double term(double x) noexcept { return x; }
};

/// The sums of the blocks of each row, in the order of base/vec.hpp: lane l has the partial sums 4 l to 4 l + 3. Rows
/// are runs of `row` elements, of which the last may be shorter.
template <class Terms>
struct sum_blocks {
  static constexpr const char* name = "sum_blocks";
  static constexpr std::uint64_t block = 4096;
  struct shared {};

  const typename Terms::source* v;
  std::uint64_t size, row;
  double* sums; ///< a sum for each block of each row; 0 where the last row has none

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    const auto blocks_a_row = (row + block - 1) / block;
    const auto blocks = (size + row - 1) / row * blocks_a_row;
    for (auto b = t.warp(); b < blocks; b += t.warps()) {
      const auto row_begin = b / blocks_a_row * row, row_end = row_begin + row < size ? row_begin + row : size;
      const auto begin = row_begin + b % blocks_a_row * block;
      double sum[4] = {};
      if (begin < row_end)
        add_block(v + begin, t.lane(), row_end - begin < block ? row_end - begin : block, sum);
      const double total = fold(t, sum);
      if (t.lane() == 0)
        sums[b] = total;
    }
  }

private:
  GOSSAMER_KERNEL static void add_block(const typename Terms::source* from, unsigned lane, std::uint64_t count,
                                        double* sum) {
    if (count == block && sizeof(typename Terms::source) == 4 && aligned(from)) {
      const auto* fours = reinterpret_cast<const four<typename Terms::source>*>(from) + lane;
      for (unsigned k = 0; k < block / 4; k += 4 * warp_size) {
        four<typename Terms::source> x[4];
        GOSSAMER_UNROLL
        for (unsigned j = 0; j < 4; ++j)
          x[j] = fours[k + j * warp_size];
        GOSSAMER_UNROLL
        for (unsigned j = 0; j < 16; ++j)
          sum[j % 4] += Terms::term(x[j / 4].x[j % 4]);
      }
      return;
    }
    for (std::uint64_t i = 4 * lane; i < count; i += 4 * warp_size)
      for (unsigned j = 0; j < 4 && i + j < count; ++j)
        sum[j] += Terms::term(from[i + j]);
  }

  template <class Thread>
  GOSSAMER_KERNEL static double fold(Thread& t, double* sum) {
    for (unsigned n = warp_size / 2; n > 0; n /= 2)
      for (unsigned j = 0; j < 4; ++j)
        sum[j] += t.down(sum[j], n);
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
};

/// Sums each row: first its blocks, and then the sums of the blocks in the same way.
template <class Terms, class Queue>
typename Queue::template array_of<double> sum_rows(Queue& q, const typename Terms::source* from, std::uint64_t size,
                                                   std::uint64_t row) {
  const auto rows = shares(size, row), blocks = shares(row, sum_blocks<Terms>::block);
  auto sums = q.template array<double>(rows * blocks);
  q.launch(rows * blocks, sum_blocks<Terms>{from, size, row, sums.data()});
  return blocks == 1 ? std::move(sums) : sum_rows<block_sums>(q, sums.data(), rows * blocks, blocks);
}

} // namespace gossamer::cuda
