// Those who look on at a run, where its leader answers late.
#include "gossamer/actors/cluster/cluster_client.hpp"
#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;

struct questions {
  int count = 0;
  caf::actor first_asker;
};

/// Answers the first question about lines late, with the second. Each answer is the number of its question.
caf::behavior late_leader(caf::stateful_actor<questions>* self, int) {
  const auto asker = [self] { return caf::actor_cast<caf::actor>(self->current_sender()); };
  const auto tell = [self](const caf::actor& whom, int number) {
    run_lines all;
    all.lines = {std::to_string(number)};
    self->send(whom, all);
  };
  return {[=](const status_request&) { self->send(asker(), run_status{}); },
          [=](const lines_request&) {
            auto& [count, first] = self->state;
            if (++count == 1) {
              first = asker();
              return;
            }
            if (first)
              tell(std::exchange(first, {}), 1);
            tell(asker(), count);
          }};
}

TEST(an_onlooker, does_not_take_a_late_answer_for_that_to_its_next_question) {
  detail::control_plane there{node_settings{}};
  const scoped_life leader{there.system.spawn(late_leader, 0)};
  node_settings s;
  s.where = there.publish(leader.actor, {"127.0.0.1", 0});
  s.patience = std::chrono::seconds(1);
  onlooker looks_on{s};
  EXPECT_THAT(looks_on.look(), ElementsAre("2"));
  EXPECT_THAT(looks_on.look(), ElementsAre("3"));
}

} // namespace
} // namespace gossamer::actors
