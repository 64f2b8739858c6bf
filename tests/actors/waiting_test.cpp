// Workers that wait to be started anew, and whose process is lost before that is agreed on.
#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/node/world.hpp"

#include <gmock/gmock.h>

#include "small_run.hpp"
#include "support/all_of.hpp"

namespace gossamer::actors {
namespace {

using testing_support::all_of;

TEST(waiting_worker, is_waited_for_no_more_when_its_process_is_lost) {
  const auto run = small_run("ad-psgd", "star", 2);
  const auto rules = charter_of(*run, 2, {0, 1}, std::chrono::seconds(10));
  node_protocol leader{*run, *rules, 0, founding_of(*run, *rules, {{0, {}}, {1, {}}})};
  leader.begin();
  leader.on(time_is{1});
  EXPECT_TRUE(all_of<decision>(leader.on(leader_report{worker_lost{1, 0}})).empty()) << "node 1 has not answered";
  EXPECT_TRUE(all_of<decision>(leader.on(leader_report{worker_waits{1}})).empty());
  const auto decided = all_of<decision>(leader.on(consensus::health{1, 0, consensus::health::state::gone}));
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_FALSE(decided[0].view.lives.contains(1));
  for (double s = 1.5; s < 10; s += 0.5)
    EXPECT_TRUE(all_of<decision>(leader.on(time_is{s})).empty()) << "there is nothing to agree on at " << s << " s";
}

} // namespace
} // namespace gossamer::actors
