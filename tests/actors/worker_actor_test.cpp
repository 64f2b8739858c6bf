// The actor of a worker, in virtual time.
#include "gossamer/actors/hosting/worker_actor.hpp"

#include <caf/scheduler/test_coordinator.hpp>
#include <gmock/gmock.h>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

caf::actor_system_config& scheduled_by_hand(caf::actor_system_config& config) {
  return config.set("scheduler.policy", caf::atom("testing"));
}

/// Loses all frames.
class no_transport final : public transport {
public:
  void attach(life, frame_sink) override {}
  std::unique_ptr<link> link_to(rank, life) override { return std::make_unique<nowhere>(); }

private:
  struct nowhere final : link {
    void send(frame) override {}
  };
};

/// Fails for want of its device when it gets a tick.
caf::behavior failing_compute(caf::event_based_actor* self, const caf::actor& supervisor) {
  report_exceptions_to(self, supervisor, "the compute actor");
  return {[](const gradient_job&) {}, [](pause_work) {}, [](resume_work) {},
          [](tick) { throw error(errc::device, "a kernel failed on cuda:0"); }};
}

/// Keeps the failures that it hears of.
caf::behavior listener(caf::event_based_actor*, std::vector<run_failed>* failures) {
  return {[failures](const run_failed& m) { failures->push_back(m); }, [](const snapshot&) {},
          [](const step_report&) {}};
}

/// A worker that waits for its first gradient.
class lonely_worker {
public:
  lonely_worker() : node_(system_.spawn(listener, &failures)) {
    const auto e = small_run("d-psgd", "ring", 2);
    worker_setup setup;
    setup.settings = e->for_worker(0, 0);
    setup.settings.witness = setup.gauge.get();
    setup.name = e->name_of(0);
    setup.algorithm = e->make_algorithm(0, *setup.settings.packing.coder);
    setup.optimiser = e->device_of(0).optimiser->clone();
    setup.spawn_compute = [this](caf::local_actor* parent) {
      return compute_ = parent->spawn(failing_compute, caf::actor_cast<caf::actor>(parent));
    };
    setup.transport = std::make_shared<no_transport>();
    setup.most_under_way = e->most_under_way();
    setup.node = node_;
    worker_ = spawn_worker(system_, std::move(setup));
    worker_->attach_functor([this](const caf::error& why) { end = system_.render(why); });
    say(meet_peers{std::make_shared<const roster>(roster{.incarnations = {0, 0}, .present = {true, true}})});
    say(start_run{});
  }
  lonely_worker(const lonely_worker&) = delete;
  lonely_worker& operator=(const lonely_worker&) = delete;
  ~lonely_worker() {
    for (const auto& one : {worker_, compute_, node_})
      caf::anon_send_exit(one, caf::exit_reason::kill);
    scheduler_.run();
  }

  template <class Message>
  void say(Message m) {
    caf::anon_send(worker_, std::move(m));
    scheduler_.run();
  }
  void lose_device() {
    caf::anon_send(compute_, tick{});
    scheduler_.run();
  }

  std::vector<run_failed> failures; ///< that its node has heard of
  std::string end;                  ///< why the worker has ended; empty: it has not

private:
  caf::actor_system_config config_;
  caf::actor_system system_{scheduled_by_hand(config_)};
  caf::scheduler::test_coordinator& scheduler_ = dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  caf::actor compute_, node_, worker_;
};

TEST(a_worker, dies_alone_when_its_device_is_lost) {
  lonely_worker w;
  EXPECT_EQ(w.end, "");
  w.lose_device();
  EXPECT_THAT(w.end, HasSubstr("kill"));
  EXPECT_TRUE(w.failures.empty());
}

TEST(a_worker, dies_alone_when_its_device_is_lost_while_it_stands_still) {
  lonely_worker w;
  w.say(pause_work{});
  w.lose_device();
  EXPECT_THAT(w.end, HasSubstr("kill"));
  EXPECT_TRUE(w.failures.empty()) << w.failures.front().sentence;
}

} // namespace
} // namespace gossamer::actors
