#include "gossamer/actors/worlds/rendezvous.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(rendezvous, refuses_other_versions_and_more_than_there_is_room_for) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const auto print = fingerprint_of(*prepare({}));
  rendezvous_setup setup;
  setup.print = print;
  setup.nodes = 1;
  setup.tell = [](const std::string&) {};
  setup.client = self;
  const auto door = spawn_rendezvous(system, std::move(setup));
  const auto answer_to = [&](const join_request& m) {
    std::string answer;
    self->send(door, m);
    self->receive([&](const run_offer& o) { answer = "node " + std::to_string(o.node); },
                  [&](const run_failed& f) { answer = f.sentence; });
    return answer;
  };
  EXPECT_THAT(answer_to({.control = 999}), AllOf(HasSubstr("version 999"), HasSubstr("leader version")));
  EXPECT_EQ(answer_to({}), "node 1");
  EXPECT_THAT(answer_to({}), HasSubstr("all of its 2 nodes"));
  node_ready ready;
  ready.print = print;
  ready.node = 9; // a place that there is not
  self->send(door, ready);
  ready.node = 1;
  ready.handle = self;
  self->send(door, ready);
  self->receive([](const assembly& all) { EXPECT_EQ(all.nodes.size(), 1u); });
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

} // namespace
} // namespace gossamer::actors
