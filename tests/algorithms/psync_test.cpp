#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/psync.hpp"

#include <gtest/gtest.h>

#include "normal_vector.hpp"
#include "script.hpp"

namespace gossamer::actors {
namespace {

using testing_support::no_gradient;
using testing_support::normal;
using testing_support::script;
using testing_support::tiny_world;

/// Returns a packet whose size depends on the worker.
packet packet_of(rank i) {
  return compress::make_codec("identity")->encode(normal(i + 1, i), {1, i, purpose::quantise}, 0);
}

using gathered = std::vector<std::vector<packet>>;

task<> gather_twice(worker& w, route way, gathered& into) {
  co_await all_gather(w, packet_of(w.id() + 1), way, 0); // the packets of a second round do not mix with the first
  into[w.id()] = co_await all_gather(w, packet_of(w.id()), way, 1);
}

/// Two rounds, whose packets arrive everywhere.
std::unique_ptr<tiny_world> gather_in_world(std::size_t workers, route way, std::uint64_t seed) {
  gathered all(workers);
  auto world = std::make_unique<tiny_world>(
      tiny_world::options{.topology = "complete", .workers = workers, .seed = seed},
      [&](rank i) {
        return std::make_unique<script>(normal(1, i), [&](worker& w, vec&) { return gather_twice(w, way, all); });
      },
      no_gradient());
  EXPECT_TRUE(world->run());
  for (const auto& one : all) {
    EXPECT_EQ(one.size(), workers);
    for (rank j = 0; j < one.size(); ++j)
      EXPECT_EQ(compress::decode(one[j]), normal(j + 1, j)) << workers << " workers, packet " << j;
  }
  return world;
}

TEST(all_gather, sends_all_packets_round_a_ring_as_they_are) {
  for (std::size_t workers : {1u, 2u, 3u, 4u, 7u})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto world = gather_in_world(workers, route::ring, seed);
      for (rank i = 0; i < workers && workers > 1; ++i) {
        const auto next = static_cast<rank>((i + 1) % workers);
        EXPECT_EQ(world->frames_from_to(i, next), 2 * (workers - 1)) << "to the successor only";
        EXPECT_EQ(world->sent(i).frames, 2 * (workers - 1));
        // Less the successor's own packets, in both rounds.
        const std::uint64_t of_all = 32 * workers * (workers + 1) / 2;
        EXPECT_EQ(world->sent(i).payload_bits, 2 * of_all + 32 * workers - 32 * (next + 2) - 32 * (next + 1));
      }
    }
}

TEST(all_gather, sends_packets_directly_to_all_others_in_one_hop) {
  for (std::size_t workers : {1u, 2u, 3u, 4u, 7u})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const auto world = gather_in_world(workers, route::direct, seed);
      for (rank i = 0; i < workers; ++i) {
        for (rank j = 0; j < workers; ++j)
          EXPECT_EQ(world->frames_from_to(i, j), i == j ? 0u : 2u);
        EXPECT_EQ(world->sent(i).payload_bits, 32 * (workers - 1) * (2 * i + 3)); // its own packets of both rounds
      }
    }
}

constexpr std::size_t size = 67;

struct synchronised {
  std::vector<vec> before, left, sum; // by worker
};

/// Sets x <- vbar of one part for each of the codecs.
task<> synchronise(worker& w, vec& x, const std::vector<std::string>& codecs, route way, synchronised& seen) {
  std::vector<psync_part> parts;
  for (const auto& text : codecs) {
    const auto c = text == "none" ? nullptr : compress::make_codec(text);
    parts.push_back(part_of(w, seen.before[w.id()], c.get(), purpose::shared_1, 5));
    seen.left[w.id()] += parts.back().residual;
  }
  co_await add_means(w, x, std::move(parts), way, 0);
  seen.sum[w.id()] = x;
}

synchronised psync_of(std::size_t workers, const std::vector<std::string>& codecs, traffic& sent,
                      route way = route::ring) {
  buffer_pool pool;
  synchronised seen;
  for (rank i = 0; i < workers; ++i) {
    seen.before.push_back(normal(size, i));
    seen.left.emplace_back(pool, size);
    seen.sum.emplace_back(pool, size);
  }
  tiny_world world{{.topology = "complete", .workers = workers},
                   [&](rank) {
                     return std::make_unique<script>(
                         vec{pool, size}, [&](worker& w, vec& x) { return synchronise(w, x, codecs, way, seen); });
                   },
                   no_gradient()};
  EXPECT_TRUE(world.run());
  sent = world.sent(0);
  return seen;
}

TEST(psync, conserves_the_mean_for_any_codecs_and_adds_the_same_bits_everywhere) {
  for (const std::vector<std::string>& codecs : {std::vector<std::string>{"identity"},
                                                 {"grbs:ratio=4"},
                                                 {"top-k:k=5"},
                                                 {"random-k:k=5"},
                                                 {"sign"},
                                                 {"qsgd"},
                                                 {"none"},
                                                 {"grbs:ratio=4", "top-k:k=5"},
                                                 {"qsgd", "identity"},
                                                 {"grbs:ratio=8", "none", "grbs:ratio=2"},
                                                 {"scaled-sign", "qsgd"}})
    for (const auto& [workers, way] :
         {std::pair{1u, route::ring}, {2u, route::ring}, {5u, route::ring}, {5u, route::direct}}) {
      traffic sent;
      const auto seen = psync_of(workers, codecs, sent, way);
      for (std::size_t k = 0; k < size; ++k) {
        double surplus = 0;
        for (rank i = 0; i < workers; ++i) {
          ASSERT_EQ(seen.sum[i][k], seen.sum[0][k]);
          surplus += static_cast<double>(seen.sum[i][k]) + static_cast<double>(seen.left[i][k])
                     - static_cast<double>(codecs.size()) * static_cast<double>(seen.before[i][k]);
        }
        ASSERT_NEAR(surplus, 0, 1e-5) << codecs.front() << ", " << workers << " workers, element " << k;
      }
    }
}

TEST(psync, leaves_nothing_of_what_a_linear_codec_keeps_and_all_the_rest) {
  traffic sent;
  const auto seen = psync_of(4, {"grbs:ratio=4"}, sent);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < size; ++k) {
    const bool averaged = seen.left[0][k] == 0;
    kept += averaged;
    for (rank i = 0; i < 4; ++i)
      EXPECT_EQ(seen.left[i][k], averaged ? 0 : seen.before[i][k]) << "all keep the same elements";
  }
  EXPECT_GT(kept, size / 8);
  EXPECT_LT(kept, size / 2);
}

TEST(psync, sends_kept_elements_once_round_and_other_packets_whole) {
  const auto bits = [](const std::vector<std::string>& codecs) {
    traffic sent;
    psync_of(4, codecs, sent);
    return sent;
  };
  EXPECT_EQ(bits({"none"}), traffic{});
  EXPECT_EQ(bits({"none", "identity"}), bits({"identity"}));
  EXPECT_EQ(bits({"grbs:ratio=4", "grbs:ratio=4"}).frames, bits({"identity"}).frames) << "one all-reduce for both";
  EXPECT_EQ(bits({"sign"}).payload_bits, 3 * size);
  EXPECT_EQ(bits({"sign"}).frames, 3u);
  EXPECT_EQ(bits({"sign", "identity"}).payload_bits, bits({"sign"}).payload_bits + bits({"identity"}).payload_bits);
}

} // namespace
} // namespace gossamer::actors
