#include "gossamer/base/error.hpp"
#include "gossamer/compute/sampler.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

namespace gossamer::compute {
namespace {

using indices = std::vector<std::uint32_t>;

indices shard_of(std::size_t size) {
  indices shard(size);
  std::iota(shard.begin(), shard.end(), 100u);
  return shard;
}

random_stream stream_of(std::uint64_t seed, std::uint32_t rank) { return {seed, rank, purpose::data}; }

indices copy(std::span<const std::uint32_t> batch) { return {batch.begin(), batch.end()}; }

TEST(sampler, visits_each_sample_once_an_epoch) {
  for (std::size_t size : {1u, 2u, 7u, 31u, 32u, 33u, 100u})
    for (std::size_t batch : {1u, 2u, 5u, 32u, 250u}) {
      sampler s(shard_of(size), batch, stream_of(1, 0));
      indices visited;
      const std::size_t epochs = 6;
      for (std::uint64_t step = 0; visited.size() < epochs * size; ++step) {
        ASSERT_EQ(s.batch_of(step).size(), batch);
        const auto more = copy(s.batch_of(step));
        visited.insert(visited.end(), more.begin(), more.end());
      }
      for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
        const auto begin = visited.begin() + static_cast<std::ptrdiff_t>(epoch * size);
        indices sorted(begin, begin + static_cast<std::ptrdiff_t>(size));
        std::ranges::sort(sorted);
        ASSERT_EQ(sorted, shard_of(size)) << size << " " << batch << " " << epoch;
      }
    }
}

TEST(sampler, gives_the_same_batches_in_any_order) {
  sampler forward(shard_of(33), 10, stream_of(1, 2));
  std::vector<indices> batches;
  for (std::uint64_t step = 0; step < 40; ++step)
    batches.push_back(copy(forward.batch_of(step)));
  sampler backward(shard_of(33), 10, stream_of(1, 2));
  for (std::uint64_t step = 40; step-- > 0;)
    ASSERT_EQ(copy(backward.batch_of(step)), batches[step]);
  for (std::uint64_t step : {7u, 7u, 0u, 39u, 3u, 3u}) {
    ASSERT_EQ(copy(sampler(shard_of(33), 10, stream_of(1, 2)).batch_of(step)), batches[step]);
    ASSERT_EQ(copy(backward.batch_of(step)), batches[step]);
  }
}

TEST(sampler, orders_differ_by_epoch_seed_and_rank) {
  const auto order = [](std::uint64_t seed, std::uint32_t rank, std::uint64_t epoch) {
    return copy(sampler(shard_of(50), 50, stream_of(seed, rank)).batch_of(epoch));
  };
  EXPECT_NE(order(1, 0, 0), order(1, 0, 1));
  EXPECT_NE(order(1, 0, 0), order(2, 0, 0));
  EXPECT_NE(order(1, 0, 0), order(1, 1, 0));
  EXPECT_NE(order(1, 0, 0), shard_of(50));
}

TEST(sampler, reaches_far_steps) {
  sampler s(shard_of(3), 2, stream_of(1, 0));
  const auto far = s.batch_of(std::uint64_t{1} << 60);
  EXPECT_TRUE(std::ranges::all_of(far, [](auto i) { return i >= 100 && i < 103; }));
}

TEST(sampler, refuses_empty_shards_and_batches) {
  for (const auto& [size, batch] : {std::pair{0u, 1u}, std::pair{1u, 0u}})
    try {
      sampler(shard_of(size), batch, stream_of(1, 0));
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.what(), testing::HasSubstr("batches of " + std::to_string(batch) + " from a shard of "
                                               + std::to_string(size) + " samples"));
    }
}

} // namespace
} // namespace gossamer::compute
