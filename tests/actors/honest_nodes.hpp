#pragma once

#include "gossamer/actors/node/control_checks.hpp"
#include "gossamer/actors/node/world.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <array>

#include "arbitrary.hpp"

namespace gossamer::testing_support {

/// The node actors of a run on one thread and in virtual time, as in the simulated world. Their workers only say where
/// they stand. One more node, the liar, is not real: tests send any message in its name.
class honest_nodes {
public:
  static constexpr std::uint32_t honest = 3, liar = honest;
  static constexpr std::size_t workers = 4;

  explicit honest_nodes(const std::string& algorithm, std::function<std::uint64_t()> draw)
      : run_(run_of(algorithm)), draw_(std::move(draw)), system_(in_virtual_time(config_)),
        scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())), liar_(deaf(&farewells_)),
        stranger_(deaf()) {
    for (std::uint32_t number = 0; number < honest; ++number)
      nodes_.at(number).actor = actors::spawn_node(system_, setup_of(number));
    liar_->attach_functor([this](const caf::error&) { liar_lives_ = false; });
    meet();
    settle();
  }
  honest_nodes(const honest_nodes&) = delete;
  honest_nodes& operator=(const honest_nodes&) = delete;
  ~honest_nodes() {
    for (const auto& one : nodes_)
      caf::anon_send_exit(one.actor, caf::exit_reason::kill);
    for (const auto& one : {liar_, stranger_, client_, door_, newcomer_})
      if (one)
        caf::anon_send_exit(one, caf::exit_reason::kill);
    while (scheduler_.try_run_once()) {
    }
    system_.await_actors_before_shutdown(false);
  }

  enum class speaker { liar, stranger, nobody };

  template <class Message>
  void say(speaker by, std::uint32_t to, const Message& m) {
    const auto target = nodes_.at(to).actor;
    if (by == speaker::nobody)
      caf::anon_send(target, m);
    else
      caf::send_as(by == speaker::liar ? liar_ : stranger_, target, m);
    settle();
  }
  /// Sends a message to the door of a run that has not begun.
  template <class Message>
  void say_at_the_door(const Message& m) {
    caf::send_as(stranger_, door_, m);
    settle();
  }
  /// Sends the liar's message to a process that has just come to the seat of a node, and has not been let in.
  /// @param time_s of the run, as the process is told @param from the checkpoint that the run goes on from
  template <class Message>
  void say_to_newcomer(std::uint32_t seat, const Message& m, double time_s = 0,
                       std::shared_ptr<const actors::resumption> from = nullptr) {
    auto setup = setup_of(seat);
    setup.time_s = time_s;
    setup.from = std::move(from);
    setup.comes_as = actors::consensus::process{actors::consensus::seats::most_candidates, {}, {}};
    newcomer_ = actors::spawn_node(system_, std::move(setup));
    caf::anon_send(newcomer_, actors::start_run{});
    caf::send_as(liar_, newcomer_, actors::greeting{liar, {}, handle_of(liar_), true});
    caf::send_as(liar_, newcomer_, m);
    settle();
  }
  /// Sends the liar's message to another leader of the same nodes, which is started only then.
  template <class Message>
  void say_before_the_start(const Message& m) {
    auto setup = setup_of(0);
    setup.others.met[liar] = handle_of(liar_);
    newcomer_ = actors::spawn_node(system_, std::move(setup));
    caf::send_as(liar_, newcomer_, m);
    settle();
    caf::anon_send(newcomer_, actors::start_run{});
    settle();
  }
  /// Ends the connection between two nodes, which both live.
  void break_connection(std::uint32_t one, std::uint32_t another) {
    for (const auto& [to, of] : {std::pair{one, another}, std::pair{another, one}})
      caf::anon_send(nodes_.at(to).actor,
                     caf::down_msg{nodes_.at(of).actor.address(), caf::exit_reason::remote_link_unreachable});
    settle();
  }
  /// Ends the run of a node, as its client does after the end.
  void end(std::uint32_t number) {
    const auto& one = nodes_.at(number);
    caf::send_as(one.client, one.actor, actors::leave_run{});
    settle();
  }
  void pass_time() {
    scheduler_.trigger_timeout();
    settle();
  }

  /// Draws a message of this type.
  template <class Message>
  Message draw(std::uint32_t to) {
    return arbitrary{{.draw = draw_,
                      .last = nodes_.at(to).last,
                      .handles = {handle_of(liar_), handle_of(stranger_), handle_of(nodes_[0].actor)},
                      .by = liar}}
        .template make<Message>();
  }
  /// Returns the reason why the liar may not say this. Empty: it may.
  template <class Message>
  std::string objection_to(const Message& m, std::uint32_t to) const {
    try {
      actors::check(m, {.rules = rules_.get(),
                        .last = &nodes_.at(to).last,
                        .workers = workers,
                        .by = liar,
                        .sender = caf::actor_cast<caf::strong_actor_ptr>(liar_)});
      return {};
    } catch (const error& e) {
      return e.code() == errc::bad_packet ? e.sentence() : std::string{};
    }
  }

  /// Returns how often evaluators were given models.
  int evaluations() const noexcept { return evaluations_; }
  /// Returns how often the liar was told that the run is over.
  int farewells() const noexcept { return farewells_; }
  bool liar_lives() const noexcept { return liar_lives_; }
  bool door_lives() const noexcept { return door_lives_; }
  bool lives(std::uint32_t number) const { return nodes_.at(number).lives; }
  /// Returns the reason why a node has ended its run. Empty: it has not.
  const std::string& failure(std::uint32_t number) const { return nodes_.at(number).failure.sentence; }
  /// Returns the last resolution that a node knows.
  const actors::consensus::resolution& last(std::uint32_t number) const { return nodes_.at(number).last; }
  /// Returns the report of the first node that ended because of an exception. Empty: none has.
  const std::string& broken() const noexcept { return broken_; }
  /// Returns the lines that the nodes have told people.
  const std::vector<std::string>& told() const noexcept { return told_; }
  /// Returns the time of the run, as a leader knows it, at the last event that it has shown.
  double shown_at_s() const noexcept { return shown_at_s_; }

private:
  struct listener final : actors::run_observer {
    listener(std::vector<std::string>& told, double& at_s) : told_(told), at_s_(at_s) {}
    void on_event(const actors::event_record& r) override {
      told_.push_back(r.what);
      at_s_ = r.time_s;
    }

  private:
    std::vector<std::string>& told_;
    double& at_s_;
  };
  struct node {
    caf::actor actor, client;
    actors::consensus::resolution last;
    bool lives = true;
    actors::run_failed failure;
  };

  static std::shared_ptr<const actors::experiment> run_of(const std::string& algorithm) {
    actors::run_settings s;
    s.algorithm = algorithm;
    s.model = "quadratic";
    s.data = "quadratic:samples=24,dim=3";
    s.workers = workers;
    s.batch = 1;
    s.steps = 1000;
    return actors::prepare(s);
  }
  static caf::actor_system_config& in_virtual_time(caf::actor_system_config& config) {
    config.set("scheduler.policy", caf::atom("testing"));
    return config;
  }
  static actors::node_interface::handle handle_of(const caf::actor& one) {
    return caf::actor_cast<actors::node_interface::handle>(one);
  }

  /// Drops its messages. An actor that refuses them would send an error.
  template <class... Messages>
  struct ignoring {
    static caf::message_handler behaviour() {
      return {[](const Messages&) {}..., [] {}};
    }
  };
  struct deaf_actor final : caf::event_based_actor {
    deaf_actor(caf::actor_config& config, int* farewells) : caf::event_based_actor(config), farewells_(farewells) {}
    caf::behavior make_behavior() override {
      const caf::message_handler counts{[this](const actors::leave_run&) {
        if (farewells_ != nullptr)
          ++*farewells_;
      }};
      return counts.or_else(actors::messages_as<actors::node_interface, ignoring>::behaviour())
          .or_else(ignoring<actors::run_offer, actors::ask_there, actors::run_status, actors::will_leave,
                            actors::evaluate_models, actors::assembly, actors::run_summary,
                            actors::node_has_left>::behaviour());
    }

  private:
    int* farewells_;
  };
  /// @param farewells counts how often it is told that the run is over; null: it is not counted
  caf::actor deaf(int* farewells = nullptr) { return system_.spawn<deaf_actor>(farewells); }
  /// A worker that stays at the step where it began.
  static caf::behavior still_worker(caf::event_based_actor* self, actors::rank i, std::uint32_t life,
                                    const caf::actor& home) {
    return caf::message_handler{[=](const actors::hold_steps& m) {
             self->send(home, actors::worker_holds{.source = i, .incarnation = life, .round = m.round});
           }}
        .or_else(ignoring<actors::start_run, actors::meet_peers, actors::proceed_with, actors::snapshot_request,
                          actors::save_checkpoint, actors::run_progress, actors::pause_work,
                          actors::resume_work>::behaviour());
  }
  caf::actor worker(actors::rank i, std::uint32_t life, const caf::actor& home) {
    return system_.spawn(still_worker, i, life, home); // without arguments, spawn of CAF 0.17 dereferences null
  }

  actors::cluster_plan plan() const {
    actors::cluster_plan result{.nodes = honest + 1, .homes = {}, .last = {}, .handle = {}, .books = {}};
    std::map<actors::consensus::node_number, actors::consensus::process> there;
    for (actors::rank i = 0; i < run_->participants(); ++i)
      result.homes.push_back(i % result.nodes);
    for (std::uint32_t number = 0; number < result.nodes; ++number)
      there[number] = {};
    const auto rules = charter_of(*run_, result.nodes, result.homes, std::chrono::seconds(2));
    result.last = founding_of(*run_, *rules, there);
    return result;
  }

  actors::node_setup setup_of(std::uint32_t number) {
    actors::node_setup setup;
    setup.run = run_;
    setup.number = number;
    join_others(setup, plan(), std::chrono::seconds(2), nullptr);
    rules_ = setup.rules;
    nodes_.at(number).last = setup.last;
    setup.spawn.worker = [this](actors::rank i, std::uint32_t life, const caf::actor& home) {
      return worker(i, life, home);
    };
    setup.spawn.evaluator = [this](const caf::actor&) {
      const auto counts = [](caf::event_based_actor*, int* all) -> caf::behavior {
        return {[all](const actors::evaluate_models&) { ++*all; }};
      };
      return system_.spawn(counts, &evaluations_);
    };
    setup.others.meet = [](const auto&) {};
    setup.others.switch_fault = [](const auto&) {};
    setup.others.send_masters_model = [](const auto&, std::uint32_t) {};
    setup.client.on_resolution = [this, number](const auto& r) { nodes_.at(number).last = r; };
    setup.client.tell = [this](const std::string& line) { told_.push_back(line); };
    setup.client.observe = [this] { return std::make_shared<listener>(told_, shown_at_s_); };
    setup.others.files = stranger_;
    setup.client.actor = nodes_.at(number).client = client_of(number);
    return setup;
  }

  caf::actor client_of(std::uint32_t number) {
    const auto listens = [](caf::event_based_actor*, node* one) -> caf::behavior {
      return caf::message_handler{[one](const actors::run_failed& m) { one->failure = m; }}.or_else(
          ignoring<actors::run_summary, actors::leave_run, actors::node_has_left>::behaviour());
    };
    return system_.spawn(listens, &nodes_.at(number));
  }

  void meet() {
    for (std::uint32_t number = 0; number < honest; ++number) {
      const auto& one = nodes_.at(number);
      one.actor->attach_functor([this, number](const caf::error& reason) {
        nodes_.at(number).lives = false;
        threw_ |= reason == caf::sec::runtime_error ? 1u << number : 0;
      });
      caf::anon_send(one.actor, actors::start_run{});
    }
    settle();
    for (std::uint32_t number = 0; number < honest; ++number)
      for (std::uint32_t other = 0; other <= honest; ++other)
        if (other != number) {
          const auto& known = other == liar ? liar_ : nodes_.at(other).actor;
          caf::send_as(known, nodes_.at(number).actor, actors::greeting{other, {}, handle_of(known), true});
        }
    actors::rendezvous_setup door;
    door.nodes = 2;
    door.client = client_ = deaf();
    door.tell = [this](const std::string& line) { told_.push_back(line); };
    door.files = stranger_;
    door_ = spawn_rendezvous(system_, std::move(door));
    door_->attach_functor([this](const caf::error&) { door_lives_ = false; });
  }

  void settle() {
    for (int ran = 0; scheduler_.try_run_once(); ++ran)
      GOSSAMER_ASSERT(ran < 100'000, "nodes come to rest");
    for (std::uint32_t number = 0; number < honest; ++number)
      if ((threw_ >> number & 1u) != 0 && broken_.empty())
        broken_ = nodes_.at(number).failure.sentence;
  }

  std::shared_ptr<const actors::experiment> run_;
  std::function<std::uint64_t()> draw_;
  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  caf::actor liar_, stranger_, client_, door_, newcomer_;
  std::shared_ptr<const actors::consensus::charter> rules_;
  std::array<node, honest> nodes_;
  bool liar_lives_ = true, door_lives_ = true;
  int evaluations_ = 0, farewells_ = 0;
  unsigned threw_ = 0; // one bit per node
  std::string broken_;
  std::vector<std::string> told_;
  double shown_at_s_ = 0;
};

} // namespace gossamer::testing_support
