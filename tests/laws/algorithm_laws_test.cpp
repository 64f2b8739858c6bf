// Laws that every algorithm of the registry must keep under any interleaving of its messages, and a rule of AD-PSGD.
#include "gossamer/testing/algorithm_laws.hpp"

namespace gossamer::actors {
namespace {

INSTANTIATE_TEST_SUITE_P(registry, algorithm_law,
                         testing::ValuesIn(algorithm_cases({algorithms().begin(), algorithms().end()})), law_name);

// A rule of AD-PSGD: active workers ask passive ones only.
TEST(ad_psgd, exchanges_only_between_active_and_passive_workers) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  tiny_world world{{.topology = "exponential", .workers = 8, .synchronous = false, .steps = 50},
                   [&](rank) {
                     const arguments given{"algorithm", entry.about, {"ad-psgd", {}}};
                     return entry.make({.given = given, .initial = p.start()});
                   },
                   p.gradients()};
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < 8; ++i)
    for (rank j = 0; j < 8; ++j) {
      if (world.worker(i).active() == world.worker(j).active()) {
        EXPECT_EQ(world.frames_from_to(i, j), 0u) << i << " to " << j;
      }
    }
}

TEST(ad_psgd, averages_at_most_once_for_each_gradient_of_an_active_worker) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  tiny_world world{
      {.topology = "ring", .workers = 2, .synchronous = false, .steps = 50},
      [&](rank) {
        const arguments given{"algorithm", entry.about, spec::parse("ad-psgd:averaging=per-active-gradient")};
        return entry.make({.given = given, .initial = p.start()});
      },
      p.gradients()};
  ASSERT_TRUE(world.run());
  const auto asked = world.sent(1).frames;
  const auto gradients = world.worker(1).gradients_done();
  EXPECT_LE(asked, gradients);
  EXPECT_GE(asked, gradients / 4); // gradients go on while an answer is under way
  EXPECT_EQ(world.sent(0).frames, asked);
}

TEST(ad_psgd, averages_at_most_once_for_each_gradient) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  std::map<frame_kind, std::uint64_t> frames;
  tiny_world world{{.topology = "ring",
                    .workers = 2,
                    .synchronous = false,
                    .steps = 50,
                    .on_send = [&](rank, const frame& f) { ++frames[f.label.kind]; }},
                   [&](rank) {
                     const arguments given{"algorithm", entry.about, {"ad-psgd", {}}};
                     return entry.make({.given = given, .initial = p.start()});
                   },
                   p.gradients()};
  ASSERT_TRUE(world.run());
  const auto asked = frames[frame_kind::average_request];
  const auto gradients = world.worker(0).gradients_done() + world.worker(1).gradients_done();
  EXPECT_LE(asked, gradients);
  EXPECT_GT(asked, 0u); // the number depends on the delays of invitations
  EXPECT_EQ(frames[frame_kind::average_reply], asked);
}

} // namespace
} // namespace gossamer::actors
