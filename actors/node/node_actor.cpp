#include "gossamer/actors/node/node_actor.hpp"

#include "gossamer/actors/node/detail/node_state.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace gossamer::actors {

namespace detail {

void node_state::open(caf::event_based_actor* self, node_setup setup) {
  self_ = self;
  setup_ = std::move(setup);
  const auto& run = *setup_.run;
  // A run under way tells its time, with that before the checkpoint.
  const auto passed = seconds{setup_.from && !setup_.comes_as ? setup_.from->all.time_s : setup_.time_s};
  began_ = self_->clock().now() - std::chrono::duration_cast<caf::actor_clock::duration_type>(passed);
  views_.emplace(run);
  others_.emplace(*setup_.rules, setup_.number);
  vigil_.emplace(*setup_.rules, setup_.number, setup_.patience);
  books_ = setup_.books;
  books_.counted.resize(run.participants());
  if (setup_.comes_as)
    protocol_.emplace(run, *setup_.rules, setup_.number, *setup_.comes_as);
  else
    protocol_.emplace(run, *setup_.rules, setup_.number, setup_.last);
  if (protocol_->leader() != nullptr)
    obey(lead_taken{});
  own_node_.emplace(
      self,
      local_node::parts{.participants = run.participants(),
                        .absent = run.vacancies(),
                        .spawn = [this](rank i, std::uint32_t life) { return setup_.spawn.worker(i, life, self_); },
                        .view_of = [this](const view_change& v) { return views_->make(v); }});
}

void node_state::start() {
  if (setup_.spawn.checkpoint_writer)
    writer_ = setup_.spawn.checkpoint_writer(self_);
  evaluator_ = setup_.spawn.evaluator(self_);
  self_->monitor(evaluator_);
  if (setup_.comes_as)
    on(consensus::message{consensus::proceed{setup_.last}});
  meet_on_data_plane();
  for (const auto& [number, handle] : setup_.others.met)
    if (auto* other = others_->numbered(number))
      meet(*other, handle);
  obey(protocol_->begin());
  if (leadership_) {
    begin_workers();
    tell_others(begin_run{});
  }
  self_->delayed_send(self_, tick_interval, tick{});
}

void node_state::begin_workers() { own_node_->obey(begin_run{}); }

void node_state::on_tick() {
  if (ended_)
    return;
  self_->delayed_send(self_, leadership_ ? tick_interval : between_reports, tick{});
  if (leadership_)
    look_after_run();
  else
    hand_on_news();
  on(time_is{elapsed()});
  watch_nodes();
  connect_to_strangers();
  if (leadership_)
    order_checkpoint_when_due();
  show([&](run_observer& o) { o.on_progress(progress(elapsed())); });
  show_workers();
}

void node_state::fail(const run_failed& failure) {
  if (!std::exchange(ended_, true))
    self_->send(setup_.client.actor, failure);
}

/// Ends this node's part: ordered by the leader, or by the client of the node that has ended the run.
void node_state::leave(const leave_run& m) {
  if (self_->current_sender() == setup_.client.actor)
    return say_farewell(m);
  const auto* from = speaker();
  if (from == nullptr
      || (from->number != protocol_->leader_node() && m.resolution < protocol_->delegate().last().number()))
    return;
  self_->send(setup_.client.actor, m);
  if (m.too_few)
    is_left_alone_ = ended_ = true; // the client may ask for what is left, and sends this node away itself
  else
    self_->quit();
}

void node_state::say_farewell(const leave_run& m) {
  if (!leadership_ || has_left_)
    return self_->quit();
  const leave_run order{m.why, protocol_->delegate().last().number(), is_left_alone_, m.code};
  farewells_.emplace();
  for (const auto& other : *others_) {
    if (other.is_met()) // also one that was given up: its process may live, and would take all others for lost
      self_->send(other.handle, order);
    if (is_spoken_to(other))
      farewells_->insert(other.number);
  }
  if (farewells_->empty())
    self_->quit();
}

void node_state::tell_observer(event_kind kind, const std::string& what) {
  show([&](run_observer& o) { o.on_event({elapsed(), kind, printable(what)}); }); // it may repeat what a node has said
}

/// The injector of one process tells those of all others.
void node_state::switch_fault(const actors::switch_fault& m) {
  if (speaker() == nullptr)
    tell_others(m);
  else if (setup_.others.switch_fault)
    setup_.others.switch_fault(m);
}

} // namespace detail

namespace {

using detail::node_state;

template <class... Messages>
struct list {
  template <class Message>
  static constexpr bool has = one_of<Message, Messages...>;
};

/// True for messages that other processes may send: these are checked before they are handled.
template <class Message>
concept from_outside =
    messages_as<node_interface,
                list>::template has<Message> || messages_as<door_interface, list>::template has<Message>;

/// Checks a message before it is handled. Messages from inside are handled as they are, and so are those that another
/// actor answers.
template <class Handler, class Result, class Message>
auto when_it_makes_sense(node_state& state, Handler handle, Result (Handler::*)(Message) const) {
  using message = std::remove_cvref_t<Message>;
  if constexpr (from_outside<message> && std::is_void_v<Result>)
    return [&state, handle](const message& m) {
      if (state.admits(m))
        handle(m);
    };
  else
    return handle;
}

template <class... Handlers>
auto when_they_make_sense(node_state& state, std::tuple<Handlers...> handlers) {
  return std::apply(
      [&](auto&... each) {
        return std::tuple{when_it_makes_sense(state, each, &std::remove_reference_t<decltype(each)>::operator())...};
      },
      handlers);
}

/// Ignores errors: any process may send one, or answer with it. By default the receiver ends.
void hear_no_errors(caf::scheduled_actor* self) {
  self->set_error_handler([](caf::scheduled_actor*, caf::error&) {});
}

// -- the handlers ----------------------------------------------------------------------------------------------------

auto handlers_of_agreement(node_state& state) {
  return std::tuple{[&state](const consensus::hold& m) { state.on_message(m); },
                    [&state](const consensus::holding& m) { state.on_message(m); },
                    [&state](const consensus::propose& m) { state.on_message(m); },
                    [&state](const consensus::accepted& m) { state.on_message(m); },
                    [&state](const consensus::proceed& m) { state.on_message(m); },
                    [&state](const consensus::refused& m) { state.on_message(m); },
                    [&state](const consensus::wish& m) { state.on(leader_report{m}); },
                    [&state](const worker_holds& m) { state.on(m); },
                    [&state](const worker_joined& m) { state.on_joined(m); },
                    [&state](const worker_paused& m) { state.on_worker(m.source, m); },
                    [&state](const worker_finished& m) { state.on_worker(m.source, m); },
                    [&state](const worker_lost& m) { state.on_loss(m); },
                    [&state](const worker_waits& m) { state.on(leader_report{m}); },
                    [&state](const node_lost& m) { state.on_complaint(m); },
                    [&state](const heartbeat& m) { state.on_heartbeat(m); }};
}

auto handlers_of_newcomers(caf::stateful_actor<node_state>* self, const caf::actor& files) {
  auto& state = self->state;
  return std::tuple{[&state](const join_request& m) { state.on_join(m); },
                    [&state](const node_ready& m) { state.on_ready(m); },
                    [&state](const greeting& m) { state.on_greeting(m); },
                    [self, files](const catalogue_request& m) { return self->delegate(files, m); },
                    [](const cluster_plan&) {}, // the plan is known
                    [&state](const status_request& m) { state.say_status(m.control); },
                    [&state](const lines_request& m) { state.say_lines(m); },
                    [&state](const stop_request& m) { state.stop(m.control); },
                    [&state](const leave_request& m) { state.depart(m); }};
}

auto handlers_of_steps(node_state& state) {
  return std::tuple{[&state](const step_report& r) { state.on_step(r); },
                    [&state](const gradient_applied& m) { state.on_applied(m); },
                    [&state](const run_books& m) { state.on_books(m); },
                    [&state](const work_report& r) { state.on_report(r); },
                    [&state](snapshot& s) { state.on_snapshot(s); },
                    [&state](const snapshot_taken& s) { state.on_taken(s); },
                    [&state](const snapshot_request& m) { state.tell_workers(m); },
                    [&state](const run_progress& m) { state.tell_workers(m); },
                    [&state](const mean_request& m) { state.on_request(m); },
                    [&state](const mean_evaluated& m) { state.tell_model(m); },
                    [&state](save_what_is_left) { state.save_what_is_left(); },
                    [&state](const evaluated& m) { state.on_evaluation(m); }};
}

auto handlers_of_checkpoints(node_state& state) {
  return std::tuple{[&state](const save_checkpoint& m) { state.save_workers(m); },
                    [&state](saved_worker& m) { state.on_part(m); },
                    [&state](const part_saved& m) { state.on_part_saved(m); },
                    [&state](const part_not_saved& m) { state.on_part_not_saved(m); },
                    [&state](const manifest_saved& m) { state.on_manifest_saved(m); },
                    [&state](const checkpoint_complete& m) { state.on_complete(m); }};
}

auto handlers_of_faults(node_state& state) {
  return std::tuple{
      [&state](const kill_worker& m) { state.pass_on(m); }, [&state](const restart_worker& m) { state.pass_on(m); },
      [&state](const retire_worker& m) { state.pass_on(m); }, [&state](const pause_worker& m) { state.pass_on(m); },
      [&state](const actors::switch_fault& m) { state.switch_fault(m); }};
}

auto handlers_of_run(node_state& state) {
  return std::tuple{
      [&state](const begin_run&) { state.begin_workers(); }, [&state](const leave_run& m) { state.leave(m); },
      [&state](const run_event& m) { state.tell_observer(event_kind::fault, m.what); },
      [&state](const run_failed& failure) { state.on_failure(failure); }, [&state](tick) { state.on_tick(); }};
}

caf::behavior behaviour_of(caf::stateful_actor<node_state>* self, node_setup setup) {
  auto& state = self->state;
  report_exceptions_to(self, setup.client.actor, "the node");
  hear_no_errors(self);
  const auto files = setup.others.files;
  state.open(self, std::move(setup));
  self->set_down_handler([&state](caf::down_msg& down) { state.on_down(down); });
  auto handlers =
      std::tuple_cat(handlers_of_agreement(state), handlers_of_newcomers(self, files), handlers_of_steps(state),
                     handlers_of_checkpoints(state), handlers_of_faults(state), handlers_of_run(state));
  return node_interface::behaviour(when_they_make_sense(state, std::move(handlers)));
}

void start(caf::stateful_actor<node_state>* self, caf::behavior behaviour) {
  self->become(std::move(behaviour));
  self->set_default_handler(caf::print_and_drop);
  self->state.start();
}

/// Lets everything wait until the start: before, a node knows nobody else, and can let nobody in.
caf::behavior node_actor(caf::stateful_actor<node_state>* self, const node_setup& setup) {
  auto started = behaviour_of(self, setup);
  self->set_default_handler(caf::skip);
  return {[self, started = std::move(started)](start_run) { start(self, started); }};
}

/// Checks an order that comes before the plan.
bool makes_sense(const leave_run& m) {
  try {
    check(m, known_run{});
    return true;
  } catch (const error& e) {
    spdlog::warn(fmt::format("an order to leave the run is left aside: {}", e.sentence()));
    return false;
  }
}

caf::behavior later_node_actor(caf::stateful_actor<node_state>* self,
                               const std::function<node_setup(const cluster_plan&)>& prepare, const caf::actor& client,
                               const caf::actor& files) {
  report_exceptions_to(self, client, "the node");
  hear_no_errors(self);
  self->set_default_handler(caf::skip); // orders may come before the plan
  return {[=](const cluster_plan& plan) {
            try {
              start(self, behaviour_of(self, prepare(plan)));
            } catch (const error& e) {
              if (e.code() == errc::bad_packet) // then it is no plan
                return spdlog::warn(fmt::format("a plan of the run is left aside: {}", e.sentence()));
              if (plan.begins) // the run is told why, too: it cannot begin without what was saved here
                self->send(plan.handle, run_failed{e.code(), e.sentence(), e.remedy()});
              throw;
            }
          },
          [=](const leave_run& m) {
            if (!makes_sense(m))
              return;
            self->send(client, m);
            self->quit();
          },
          [=](const catalogue_request& m) { return self->delegate(files, m); }};
}

} // namespace

run_failed silent_leader(std::chrono::nanoseconds patience) {
  return {
      errc::failed,
      fmt::format("nothing has been heard of the leader for {:.3g} s", std::chrono::duration<double>{patience}.count()),
      "it may have been stopped, or be cut off; --patience says for how long that is borne"};
}

caf::actor spawn_node(caf::actor_system& system, node_setup setup) {
  return system.spawn(node_actor, std::move(setup));
}

caf::actor spawn_node_later(caf::actor_system& system, std::function<node_setup(const cluster_plan&)> prepare,
                            caf::actor client, caf::actor files) {
  return system.spawn(later_node_actor, std::move(prepare), std::move(client), std::move(files));
}

} // namespace gossamer::actors
