#include "gossamer/base/error.hpp"
#include "gossamer/compute/sampler.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <set>

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

/// Returns a shard with gaps, in no order.
indices scattered(std::size_t size) {
  indices shard = shard_of(size);
  for (auto& i : shard)
    i = 3 * i + i % 2;
  random_sequence{stream_of(9, 9), 0}.shuffle(std::span{shard});
  return shard;
}

/// Returns the places of an epoch's samples in the ascending shard.
indices places_of_epoch(std::size_t size, std::size_t block, std::uint64_t epoch, std::uint64_t seed = 1) {
  auto ascending = scattered(size);
  std::ranges::sort(ascending);
  indices places;
  for (const auto i : copy(sampler(scattered(size), size, stream_of(seed, 0), block).batch_of(epoch)))
    places.push_back(static_cast<std::uint32_t>(std::ranges::find(ascending, i) - ascending.begin()));
  return places;
}

TEST(sampler, with_blocks_visits_each_sample_once_an_epoch) {
  for (const std::size_t size : {1u, 2u, 15u, 16u, 17u, 100u, 257u})
    for (const std::size_t block : {1u, 2u, 3u, 16u, 99u, 100u, 101u, 1'000'000u})
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        auto places = places_of_epoch(size, block, epoch);
        std::ranges::sort(places);
        indices expected(size);
        std::iota(expected.begin(), expected.end(), 0u);
        ASSERT_EQ(places, expected) << size << " " << block << " " << epoch;
      }
}

std::set<std::uint32_t> blocks_of(std::span<const std::uint32_t> places, std::uint32_t block) {
  std::set<std::uint32_t> result;
  for (const auto place : places)
    result.insert(place / block);
  return result;
}

TEST(sampler, visits_whole_blocks_sixteen_at_a_time) {
  constexpr std::uint32_t block = 7, blocks = 150;
  constexpr std::size_t together = sampler::blocks_together * block;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    const auto places = places_of_epoch(blocks * block, block, epoch);
    for (std::size_t at = 0; at < places.size(); at += together) {
      const auto now = std::span{places}.subspan(at, std::min(together, places.size() - at));
      ASSERT_EQ(blocks_of(now, block).size() * block, now.size());
      ASSERT_GT(blocks_of(now.first(block), block).size(), 1u) << "its blocks are not visited one after the other";
    }
  }
}

TEST(sampler, orders_with_blocks_differ_by_epoch_and_seed_and_are_repeatable) {
  constexpr std::uint32_t block = 7, size = 150 * block;
  const auto first_blocks = [&](std::uint64_t epoch, std::uint64_t seed) {
    const auto places = places_of_epoch(size, block, epoch, seed);
    return blocks_of(std::span{places}.first(sampler::blocks_together * block), block);
  };
  EXPECT_NE(first_blocks(0, 1), first_blocks(1, 1));
  EXPECT_NE(first_blocks(0, 1), first_blocks(0, 2));
  sampler going_on(scattered(size), size, stream_of(1, 0), block);
  for (const std::uint64_t epoch : {0u, 1u, 2u, 1u}) {
    sampler fresh(scattered(size), size, stream_of(1, 0), block);
    EXPECT_EQ(copy(going_on.batch_of(epoch)), copy(fresh.batch_of(epoch)));
  }
}

TEST(sampler, takes_a_block_that_is_larger_than_the_shard) {
  EXPECT_EQ(places_of_epoch(50, 51, 0), places_of_epoch(50, 1'000'000'000, 0));
  EXPECT_NE(places_of_epoch(50, 51, 0), places_of_epoch(50, 51, 1));
}

TEST(sampler, without_blocks_shuffles_the_shard_as_it_is_given) {
  auto expected = scattered(50);
  random_sequence{stream_of(1, 0), 3}.shuffle(std::span{expected});
  EXPECT_EQ(copy(sampler(scattered(50), 50, stream_of(1, 0)).batch_of(3)), expected);
  EXPECT_EQ(copy(sampler(scattered(50), 50, stream_of(1, 0), 0).batch_of(3)), expected);
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
