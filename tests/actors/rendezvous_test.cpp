#include "gossamer/actors/cluster/detail/cluster_parts.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/node/rendezvous.hpp"
#include "gossamer/actors/real_time/real_time.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gmock/gmock.h>

#include <asio/ip/tcp.hpp>
#include <atomic>
#include <variant>

#include "cluster.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(control_plane, ends_while_it_connects) {
  detail::control_plane other{node_settings{}};
  // CAF 0.17 dereferences a null pointer where spawn gets no arguments.
  const auto opens = [](caf::event_based_actor*, int) { return caf::behavior{[](tick) {}}; };
  const scoped_life door{other.system.spawn(opens, 0)};
  const auto where = other.publish(door.actor, {"127.0.0.1", 0});
  for (int k = 0; k < 50; ++k) {
    detail::control_plane here{node_settings{}};
    caf::anon_send(caf::actor_cast<caf::actor>(here.middleman()), caf::connect_atom::value, where.host, where.port);
  }
}

TEST(control_plane, ends_at_once_while_it_connects_to_a_silent_door) {
  asio::io_context io;
  const asio::ip::tcp::acceptor silent{io, {asio::ip::address_v4::loopback(), 0}};
  node_settings s;
  s.patience = std::chrono::hours(1);
  std::optional<detail::control_plane> here{std::in_place, s};
  caf::anon_send(caf::actor_cast<caf::actor>(here->middleman()), caf::connect_atom::value, std::string{"127.0.0.1"},
                 silent.local_endpoint().port());
  here.reset();
  EXPECT_FALSE(here) << "within the time that a test may take";
}

TEST(a_newcomer, is_interrupted_at_once_before_a_silent_door) {
  asio::io_context io;
  const asio::ip::tcp::acceptor silent{io, {asio::ip::address_v4::loopback(), 0}};
  joining_settings s;
  s.where = {"127.0.0.1", silent.local_endpoint().port()};
  s.patience = std::chrono::hours(1);
  s.interrupted = [] { return true; };
  try {
    join_cluster(s, [](const std::string&, const compute::data_files&) { return nullptr; });
    FAIL() << "nobody lets it in";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::interrupted);
  }
}

TEST(control_plane, makes_no_actor_for_a_process_that_connects) {
  detail::control_plane other{node_settings{}};
  const auto opens = [](caf::event_based_actor* self, int) {
    return caf::behavior{[self](caf::get_atom) { return self->system().latest_actor_id(); }};
  };
  const scoped_life door{other.system.spawn(opens, 0)};
  const auto where = other.publish(door.actor, {"127.0.0.1", 0});
  const auto before = other.system.latest_actor_id();
  for (int life = 0; life < 20; ++life) {
    detail::control_plane here{node_settings{}};
    caf::scoped_actor self{here.system};
    const auto fail = [&](const caf::error& e) { ADD_FAILURE() << here.describe(e); };
    caf::actor found;
    self->request(here.middleman(), caf::infinite, caf::connect_atom::value, where.host, where.port)
        .receive([&](const caf::node_id&, const caf::strong_actor_ptr& there,
                     const std::set<std::string>&) { found = caf::actor_cast<caf::actor>(there); },
                 fail);
    ASSERT_TRUE(found);
    self->request(found, caf::infinite, caf::get_atom::value)
        .receive([&](caf::actor_id latest) { EXPECT_EQ(latest, before) << "in life " << life; }, fail);
  }
}

TEST(a_process_of_a_run, switches_faults_as_whoever_leads_says) {
  const auto e = prepare(small_run("d-psgd"));
  detail::control_plane control{node_settings{}};
  const auto world = std::make_shared<const real_time>(
      control.system, e, run_surroundings{.faults = {.faults = {}, .live = true}}, e->settings.workers);
  std::vector<std::string> told;
  node_settings s;
  s.tell = [&](const std::string& line) { told.push_back(line); };
  node_setup setup;
  setup.run = e;
  cluster_plan plan;
  plan.homes.resize(e->participants());
  detail::join_others(setup, control, nullptr, world, s, plan);
  const auto slow = [](rank who) {
    return to_toml({.faults = {{.kind = fault_kind::slow, .workers = {who}, .factor = 3}}});
  };
  setup.others.switch_fault({.index = 5, .on = true, .fault = slow(1)});
  EXPECT_EQ(world->board()->slow_down(1), 3);
  setup.others.switch_fault({.index = 5, .on = false});
  EXPECT_EQ(world->board()->slow_down(1), 1);
  EXPECT_TRUE(told.empty());
  setup.others.switch_fault({.index = 6, .on = true, .fault = slow(1000)});
  EXPECT_THAT(told, ElementsAre(HasSubstr("1000")));
}

TEST(a_process_of_a_run, stops_its_injector_when_it_leads_no_more) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor injector{system};
  const auto leads = std::make_shared<std::atomic<bool>>(false);
  auto seen = detail::while_leading(leads, nullptr, caf::actor_cast<caf::actor>(injector));
  EXPECT_TRUE(*leads);
  EXPECT_FALSE(injector->has_next_message());
  seen.reset();
  EXPECT_FALSE(*leads);
  injector->receive([](stop_faults) {}, caf::after(std::chrono::seconds(10)) >> [] { FAIL() << "it goes on"; });
}

TEST(rendezvous, refuses_other_versions_and_more_than_there_is_room_for) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system}, late{system};
  const auto print = fingerprint_of(*prepare({}));
  rendezvous_setup setup;
  setup.print = print;
  setup.nodes = 1;
  setup.tell = [](const std::string&) {};
  setup.client = self;
  const auto door = spawn_rendezvous(system, std::move(setup));
  const auto answer_to = [&](const join_request& m, caf::scoped_actor& by) {
    std::string answer;
    by->send(door, m);
    by->receive([&](const run_offer& o) { answer = "node " + std::to_string(o.node); },
                [&](const run_failed& f) { answer = f.sentence; });
    return answer;
  };
  EXPECT_THAT(answer_to({.control = 999}, self), AllOf(HasSubstr("version 999"), HasSubstr("leader version")));
  EXPECT_EQ(answer_to({}, self), "node 1");
  EXPECT_THAT(answer_to({}, late), HasSubstr("all of its 2 nodes"));
  EXPECT_EQ(answer_to({.wanted = 1}, late), "node 1 is there, or has not been missed yet");
  EXPECT_EQ(answer_to({.wanted = 2}, late), "--number is 2, and the run has the places 0 to 1");
  node_ready ready;
  ready.print = print;
  ready.node = 9; // a number outside the run
  self->send(door, ready);
  ready.node = 1;
  ready.handle = caf::actor_cast<node_interface::handle>(self);
  self->send(door, ready);
  self->receive([](const assembly& all) { EXPECT_EQ(all.nodes.size(), 1u); });
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

TEST(rendezvous, keeps_one_place_for_a_process_that_asks_again) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor first{system}, second{system};
  rendezvous_setup setup;
  setup.nodes = 2;
  setup.tell = [](const std::string&) {};
  const auto door = spawn_rendezvous(system, std::move(setup));
  const auto place_of = [&](caf::scoped_actor& who, std::uint32_t wanted = join_request::any_number) {
    std::uint32_t place = 0;
    who->send(door, join_request{.wanted = wanted});
    who->receive([&](const run_offer& o) { place = o.node; }, [](const run_failed&) {});
    return place;
  };
  EXPECT_EQ(place_of(first, 2), 2u);
  EXPECT_EQ(place_of(first), 2u);
  EXPECT_EQ(place_of(first, 2), 2u);
  EXPECT_EQ(place_of(second), 1u);
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

/// A node that has waited too long for the first answer takes it when it comes: it names a place, and a life there.
TEST(a_run_under_way, keeps_one_place_for_a_process_that_asks_again) {
  auto settings = small_run("d-psgd");
  settings.epochs = 1e6;
  settings.max_workers = 5;
  std::atomic<bool> has_answered = false;
  std::vector<run_offer> offers;
  cluster nodes{{{}}};
  std::jthread asks;
  struct : run_observer {
    void on_progress(const progress_record&) override { begins(); }
    std::function<void()> begins;
  } seen;
  seen.begins = [&] {
    if (asks.joinable())
      return;
    asks = std::jthread{[&] {
      detail::control_plane here{node_settings{.where = {}, .threads = 1}};
      caf::scoped_actor self{here.system};
      const auto door = detail::connect(self, here, {.where = {"127.0.0.1", nodes.port}}, {}, "");
      for (int k = 0; k < 2; ++k)
        self->send(door, join_request{});
      for (int k = 0; k < 2; ++k)
        self->receive([&](run_offer& o) { offers.push_back(std::move(o)); });
      has_answered = true;
    }};
  };
  nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return has_answered.load(); }});
  asks.join();
  ASSERT_EQ(offers.size(), 2u);
  EXPECT_EQ(offers[0].node, offers[1].node);
  EXPECT_EQ(offers[0].life, offers[1].life);
}

TEST(rendezvous, tells_refusals_once_and_not_without_end) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  std::vector<std::string> told; // which the door writes before it answers
  rendezvous_setup setup;
  setup.nodes = 1;
  setup.print = fingerprint_of(*prepare({}));
  setup.tell = [&](const std::string& line) { told.push_back(line); };
  setup.client = self;
  const auto door = spawn_rendezvous(system, std::move(setup));
  const auto refused = [&](const auto& m) {
    std::string why;
    self->send(door, m);
    self->receive([&](const run_failed& f) { why = f.sentence; });
    return why;
  };
  EXPECT_THAT(refused(join_request{.control = 999}), HasSubstr("version 999"));
  EXPECT_THAT(refused(join_request{.control = 999}), HasSubstr("version 999")) << "whoever is refused hears it always";
  EXPECT_THAT(told, ElementsAre(HasSubstr("a node is refused: it speaks version 999")));
  node_ready other;
  other.node = 1;
  other.handle = caf::actor_cast<node_interface::handle>(self);
  for (int attempt = 0; attempt < 3; ++attempt) {
    self->send(door, join_request{});
    self->receive([](const run_offer& o) { EXPECT_EQ(o.node, 1u); });
    EXPECT_THAT(refused(other), HasSubstr("prepared another run"));
  }
  EXPECT_THAT(told, ElementsAre(HasSubstr("version 999"), HasSubstr("node 1 is refused: it has prepared another run")));
  for (std::uint32_t version = 1000; version < 2000; ++version)
    refused(join_request{.control = version});
  ASSERT_LT(told.size(), 50u);
  EXPECT_THAT(told.back(), HasSubstr("more refusals are not shown"));
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

TEST(rendezvous, lets_a_number_beyond_its_places_ask_again_where_the_run_may_grow) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  rendezvous_setup setup;
  setup.nodes = 1;
  setup.tell = [](const std::string&) {};
  setup.client = self;
  setup.may_grow = true;
  const auto door = spawn_rendezvous(system, std::move(setup));
  self->send(door, join_request{.wanted = 2});
  self->receive([](const run_failed& f) {
    EXPECT_EQ(f.code, errc::failed) << "which may pass";
    EXPECT_EQ(f.sentence, "the run has all of its 2 nodes");
  });
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

TEST(rendezvous, tells_all_who_wait_that_there_will_be_no_run_and_ends_when_they_are_gone) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  rendezvous_setup setup;
  setup.nodes = 2;
  setup.tell = [](const std::string&) {};
  setup.client = self;
  const auto door = spawn_rendezvous(system, std::move(setup));
  const run_called_off news{{errc::failed, "nobody else has come", ""}};
  {
    caf::scoped_actor waits{system};
    waits->send(door, join_request{});
    waits->receive([](const run_offer&) {});
    self->send(door, news);
    waits->receive([](const run_failed& f) { EXPECT_EQ(f.sentence, "nobody else has come"); });
    self->send(door, join_request{});
    self->receive(
        [](const run_failed& f) { EXPECT_EQ(f.sentence, "nobody else has come") << "to who comes too late"; });
  }
  self->wait_for(door);
}

/// The door of a leader that offers a place, and has none once the run is prepared.
struct changing_door {
  caf::behavior behaviour(caf::event_based_actor* self) {
    const auto answer = [self](auto m) {
      self->send(caf::actor_cast<caf::actor>(self->current_sender()), std::move(m));
    };
    return {[this, answer](const join_request&) {
              if (++asked > 1)
                return answer(run_failed{errc::usage, "it is asked again", ""});
              run_offer offer;
              offer.settings = to_text(prepare(small_run("d-psgd"))->settings);
              answer(std::move(offer));
            },
            [this, answer](const node_ready&) { answer(ask_there{where}); }, [](const status_request&) {}};
  }
  int asked = 0;
  endpoint where;
};

TEST(join_cluster, asks_again_for_a_place_that_is_taken_while_the_run_is_prepared) {
  detail::control_plane there{node_settings{}};
  changing_door leader;
  const auto opens = [](caf::event_based_actor* self, changing_door* door) { return door->behaviour(self); };
  const scoped_life door{there.system.spawn(opens, &leader)};
  leader.where = there.publish(door.actor, {"127.0.0.1", 0});
  joining_settings s;
  s.where = leader.where;
  try {
    join_cluster(s, joiner{}.prepare_run);
    FAIL() << "it takes part";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("it is asked again"));
  }
  EXPECT_EQ(leader.asked, 2);
}

TEST(interfaces, accept_their_messages_and_no_others) {
  const auto accepts = []<class Handle, class Message>(const Handle&, const Message&) {
    return caf::response_type_unbox<typename Handle::signatures, caf::detail::type_list<Message>>::valid;
  };
  const node_interface::handle node;
  EXPECT_TRUE(accepts(node, begin_run{}));
  EXPECT_TRUE(accepts(node, cluster_plan{}));
  EXPECT_TRUE(accepts(node, work_report{})) << "any node may lead";
  EXPECT_TRUE(accepts(node, consensus::hold{}));
  EXPECT_FALSE(accepts(node, decision{})) << "which resolutions say";
  EXPECT_FALSE(accepts(node, tick{})) << "which stays in its process";
  EXPECT_TRUE(accepts(door_interface::handle{}, join_request{}));
  EXPECT_FALSE(accepts(door_interface::handle{}, run_offer{}));
}

TEST(rendezvous, answers_who_asks_how_the_run_is_or_for_its_end) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  std::atomic<int> stops = 0;
  rendezvous_setup setup;
  setup.nodes = 2;
  setup.client = self;
  setup.algorithm = "d-psgd";
  setup.stop = [&] { ++stops; };
  const auto door = spawn_rendezvous(system, std::move(setup));
  const auto answer_to = [&](const auto& question) {
    std::variant<run_status, run_failed> answer;
    self->send(door, question);
    self->receive([&](const run_status& s) { answer = s; }, [&](const run_failed& f) { answer = f; });
    return answer;
  };
  const auto status = std::get<run_status>(answer_to(status_request{}));
  EXPECT_EQ(status.algorithm, "d-psgd");
  EXPECT_EQ(status.nodes, 3u);
  EXPECT_EQ(status.there, 1u) << "the leader; nobody has joined";
  EXPECT_FALSE(status.begun);
  EXPECT_EQ(progress_of(status).epoch, 0);
  EXPECT_EQ(progress_of(run_status{}).accuracy, std::nullopt);

  EXPECT_THAT(std::get<run_failed>(answer_to(lines_request{999})).sentence, HasSubstr("version 999"));
  self->send(door, lines_request{});
  self->receive([](const run_lines& m) { EXPECT_TRUE(m.lines.empty()) << "there is nothing to see yet"; });
  EXPECT_THAT(std::get<run_failed>(answer_to(status_request{999})).sentence, HasSubstr("version 999"));
  EXPECT_THAT(std::get<run_failed>(answer_to(stop_request{999})).sentence, HasSubstr("version 999"));
  EXPECT_EQ(stops, 0);
  EXPECT_EQ(std::get<run_status>(answer_to(stop_request{})).nodes, 3u);
  EXPECT_EQ(stops, 1);
  caf::anon_send_exit(door, caf::exit_reason::user_shutdown);
}

} // namespace
} // namespace gossamer::actors
