#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/neighbour_exchange.hpp"
#include "gossamer/actors/collectives/pairwise_average.hpp"

#include <gtest/gtest.h>

#include "script.hpp"

namespace gossamer::actors {
namespace {

using testing_support::no_gradient;
using testing_support::script;
using testing_support::tiny_world;

vec filled(buffer_pool& pool, std::size_t size, rank i) {
  vec v{pool, size};
  auto values = v.mutate();
  for (std::size_t k = 0; k < size; ++k)
    values[k] = static_cast<float>((i + 1) * (k + 1)); // sums of small whole numbers are exact
  return v;
}

TEST(sum_of_all, sums_for_every_length_and_every_timing) {
  buffer_pool pool;
  for (std::size_t workers : {1u, 2u, 3u, 4u, 7u})
    for (std::size_t length : {0u, 1u, 2u, 5u, 7u, 64u, 101u})
      for (std::uint64_t seed : {1u, 2u}) {
        tiny_world world{{.topology = "ring", .workers = workers, .seed = seed},
                         [&](rank i) {
                           return std::make_unique<script>(filled(pool, length, i), [](worker& w, vec& x) -> task<> {
                             x = co_await sum_of_all(w, x, route::ring, 0);
                             x = co_await sum_of_all(w, x, route::ring,
                                                     1); // the parts of a second round do not mix with the first
                           });
                         },
                         no_gradient()};
        ASSERT_TRUE(world.run());
        const float factor = static_cast<float>(workers * workers * (workers + 1)) / 2;
        for (rank i = 0; i < workers; ++i)
          for (std::size_t k = 0; k < length; ++k)
            ASSERT_EQ(world.model(i)[k], factor * static_cast<float>(k + 1))
                << workers << " workers, length " << length << ", worker " << i;
      }
}

TEST(sum_of_all, sends_what_it_promises) {
  buffer_pool pool;
  constexpr std::size_t workers = 4, length = 103;
  tiny_world world{{.topology = "complete", .workers = workers},
                   [&](rank i) {
                     return std::make_unique<script>(filled(pool, length, i), [](worker& w, vec& x) -> task<> {
                       x = co_await sum_of_all(w, x, route::ring, 0);
                     });
                   },
                   no_gradient()};
  ASSERT_TRUE(world.run());
  std::uint64_t bits = 0;
  for (rank i = 0; i < workers; ++i) {
    bits += world.sent(i).payload_bits;
    EXPECT_EQ(world.sent(i).frames, 2 * (workers - 1));
    EXPECT_EQ(world.frames_from_to(i, (i + 1) % workers), 2 * (workers - 1)); // frames go to the successor only
  }
  EXPECT_EQ(bits, 2 * (workers - 1) * 32 * length); // 2 (M - 1) bits(D) over all workers
}

TEST(neighbour_exchange, keeps_the_mean_and_mixes_with_the_matrix) {
  buffer_pool pool;
  for (const char* topology : {"ring", "star", "complete", "hypercube"}) {
    tiny_world world{{.topology = topology, .workers = 8},
                     [&](rank i) {
                       return std::make_unique<script>(filled(pool, 5, i), [](worker& w, vec& x) -> task<> {
                         for (std::uint64_t t = 0; t < 300; ++t)
                           x = co_await neighbour_exchange(w, x, t);
                       });
                     },
                     no_gradient()};
    const auto before = world.sum_of_models();
    ASSERT_TRUE(world.run());
    const auto after = world.sum_of_models();
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_NEAR(after[k], before[k], 1e-4 * before[k]) << topology;
      for (rank i = 0; i < 8; ++i) // 300 rounds of any of these matrices reach consensus
        EXPECT_NEAR(world.model(i)[k], before[k] / 8, 1e-3 * before[k]) << topology;
    }
  }
}

/// Makes worker 1 ask its only neighbour, 0, `times` times. Its own model moves while the questions are under way.
task<> ask_often(worker& w, vec& x, int times) {
  for (int k = 0; k < times; ++k) {
    const average_question q{.number = static_cast<std::uint64_t>(k)};
    co_await ask_for_average(w, x, 0, q);
  }
}

task<> answer_often(worker& w, vec& x, int times) {
  for (int k = 0; k < times; ++k) {
    const auto request = co_await w.receive_any(frame_kind::average_request);
    answer_average(w, x, request);
  }
}

TEST(pairwise_average, conserves_the_sum_with_every_codec) {
  buffer_pool pool;
  for (const char* codec : {"identity", "uniform:bits=8", "uniform:bits=2"}) {
    constexpr int times = 50;
    tiny_world world{{.topology = "ring", .codec = codec, .workers = 2, .synchronous = false},
                     [&](rank i) {
                       return std::make_unique<script>(filled(pool, 9, i), [i](worker& w, vec& x) {
                         return i == 1 ? ask_often(w, x, times) : answer_often(w, x, times);
                       });
                     },
                     no_gradient()};
    const auto before = world.sum_of_models();
    ASSERT_TRUE(world.run());
    const auto after = world.sum_of_models();
    for (std::size_t k = 0; k < before.size(); ++k)
      EXPECT_NEAR(after[k], before[k], 1e-3) << codec; // float rounding only: the compressed parts cancel
  }
}

TEST(pairwise_average, of_idle_models_is_their_mean) {
  buffer_pool pool;
  tiny_world world{{.topology = "ring", .workers = 2, .synchronous = false},
                   [&](rank i) {
                     return std::make_unique<script>(filled(pool, 9, i), [i](worker& w, vec& x) {
                       return i == 1 ? ask_often(w, x, 1) : answer_often(w, x, 1);
                     });
                   },
                   no_gradient()};
  ASSERT_TRUE(world.run());
  for (std::size_t k = 0; k < 9; ++k) {
    EXPECT_EQ(world.model(0)[k], 1.5f * static_cast<float>(k + 1));
    EXPECT_EQ(world.model(1)[k], world.model(0)[k]);
  }
}

} // namespace
} // namespace gossamer::actors
