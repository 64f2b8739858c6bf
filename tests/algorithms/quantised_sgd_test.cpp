#include <gtest/gtest.h>

#include "gossip_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 41, workers = 4;
constexpr std::uint64_t steps = 40;
constexpr double lr = 0.05;
using numbers = std::vector<float>;

tiny_world run(const std::string& algorithm, const char* codec, quadratics& p) {
  tiny_world world{
      {.codec = codec, .workers = workers, .steps = steps, .lr = lr}, runs(algorithm, p.start()), p.gradients()};
  EXPECT_TRUE(world.run()) << algorithm;
  return world;
}

/// What a codec that draws nothing delivers of v, in this number of packets.
numbers delivered(const compress::codec& c, const numbers& v, std::size_t packets) {
  buffer_pool pool;
  numbers result;
  for (std::size_t k = 0; k < packets; ++k) {
    const auto edge = [&](std::size_t j) { return v.begin() + static_cast<std::ptrdiff_t>(j * v.size() / packets); };
    const numbers part(edge(k), edge(k + 1));
    const vec got = compress::decode(c.encode(vec{pool, part}, {9, 0, purpose::quantise}, 0));
    result.insert(result.end(), got.view().begin(), got.view().end());
  }
  return result;
}

TEST(quantised_sgd, does_what_plain_loops_do) {
  for (const char* codec : {"scaled-sign", "top-k:k=3", "identity"})
    for (const bool gathered : {false, true}) {
      quadratics p{workers, size, 0.3f};
      auto world = run(gathered ? "quantised-sgd:mean=gathered" : "quantised-sgd", codec, p);
      const auto c = compress::make_codec(codec);
      numbers x(size); // as p.start()
      for (std::uint64_t t = 0; t < steps; ++t) {
        numbers mean(size);
        for (std::size_t i = 0; i < workers; ++i) {
          const auto q = delivered(*c, p.gradient(i, t, x), gathered ? 1 : workers);
          for (std::size_t k = 0; k < size; ++k)
            mean[k] += q[k] / workers;
        }
        if (!gathered)
          mean = delivered(*c, mean, workers);
        for (std::size_t k = 0; k < size; ++k)
          x[k] -= static_cast<float>(lr) * mean[k];
      }
      for (rank i = 0; i < workers; ++i)
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(world.model(i)[k], x[k], 1e-4) << codec << ", worker " << i << ", element " << k;
    }
}

TEST(quantised_sgd, sends_two_packets_a_segment_or_one_to_each_worker) {
  const auto sent = [](const char* algorithm) {
    quadratics p{workers, size};
    auto world = run(algorithm, "uniform:bits=8", p);
    std::uint64_t bits = 0;
    for (rank i = 0; i < workers; ++i)
      bits += world.sent(i).payload_bits;
    return bits;
  };
  EXPECT_EQ(sent("quantised-sgd"), steps * 2 * (workers - 1) * (32 * workers + 8 * size));
  EXPECT_EQ(sent("quantised-sgd:mean=gathered"), steps * workers * (workers - 1) * (32 + 8 * size));
}

TEST(quantised_sgd, keeps_one_model_on_all_workers) {
  for (const char* algorithm : {"quantised-sgd", "quantised-sgd:mean=gathered"}) {
    quadratics p{workers, size, 0.3f};
    auto world = run(algorithm, "uniform:bits=4", p);
    for (rank i = 1; i < workers; ++i)
      EXPECT_EQ(world.model(i), world.model(0)) << algorithm;
  }
}

} // namespace
} // namespace gossamer::actors
