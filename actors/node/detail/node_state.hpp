#pragma once

#include "gossamer/actors/agreement/vigil.hpp"
#include "gossamer/actors/evaluation/checkpoints.hpp"
#include "gossamer/actors/evaluation/evaluations.hpp"
#include "gossamer/actors/evaluation/progress_meter.hpp"
#include "gossamer/actors/hosting/local_node.hpp"
#include "gossamer/actors/node/control_checks.hpp"
#include "gossamer/actors/node/detail/refusals.hpp"
#include "gossamer/actors/node/node_actor.hpp"
#include "gossamer/actors/protocol/run_books.hpp"
#include "gossamer/actors/run/view_maker.hpp"

namespace gossamer::actors::detail {

inline constexpr auto tick_interval = std::chrono::milliseconds(100);
inline constexpr auto between_reports = std::chrono::milliseconds(50);
/// The planned updates are shared among at least so many reports, however few they are: an asynchronous run goes on
/// until its leader hears that it is done.
inline constexpr std::uint64_t least_reports = 256;
inline constexpr auto between_activities = std::chrono::milliseconds(500);
inline constexpr double longest_wait_for_disk_s = 10; // for each part, at the end of a run

using seconds = std::chrono::duration<double>;

/// The knowledge that only the leading process has. Lost with it: the next leader is told what it must know.
struct leadership {
  /// @param by the number of the resolution by which this process leads
  /// @param from the checkpoint that the run goes on from; null: it has begun here
  /// @param before the books that a former leader has sent
  /// @param islands as in `evaluations`
  leadership(const experiment& e, std::uint32_t by, const resumption* from, const run_books& before, bool islands)
      : progress(e), evaluating(e, from ? from->all.updates() : 0, (by - 1) * most_evaluations, islands),
        saving(e, coordination::checkpoints_before(e, by)),
        updates_seen(e.participants(), from ? from->all.updates() : 0), first_evaluation((by - 1) * most_evaluations) {
    if (from) {
      progress.go_on_from(from->all);
      saving.go_on_from(from->all);
    }
    add(before);
  }

  void add(const run_books& known) {
    const auto updates = progress.updates();
    progress.add(known.counted);
    for (auto& seen : updates_seen) // what was done before is no staleness of gradients that are under way
      seen += progress.updates() - updates;
    evaluating.add(known.counted);
    unreported = std::max(unreported, known.unreported);
  }
  run_books books() {
    auto counted = progress.ledger();
    counted.merge(evaluating.evaluated());
    return {std::move(counted), unreported};
  }

  /// Limit under one leader. Numbers ascend through the run, and no two leaders use the same.
  static constexpr std::uint64_t most_evaluations = std::uint64_t{1} << 36;

  progress_meter progress;
  evaluations evaluating;
  checkpoints saving;
  std::vector<std::uint64_t>
      updates_seen; // updates that each worker, or master, had seen when it last read its model: at its last report
  run_summary summary;
  evaluation_record last_record;
  double ended_s = 0;
  bool final_is_known = false;                   // the result of the run is complete
  std::uint32_t shown_view = 0;                  // number of the view that the observer knows
  double shown_s = 0;                            // time of the last counts that the observer got
  std::map<rank, worker_activity> activity = {}; // of all workers, as told last
  std::uint64_t first_evaluation;
  std::uint64_t unreported = 0;
};

/// Turns messages into events of the protocol, and its orders into messages; while this process leads, counts,
/// evaluates, and has states saved.
class node_state {
public:
  node_state() = default;
  node_state(const node_state&) = delete;
  node_state& operator=(const node_state&) = delete;
  ~node_state() { // however the run ends, its actors end with it
    for (const auto& one : {evaluator_, writer_})
      if (one)
        caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }

  void open(caf::event_based_actor* self, node_setup setup);
  void start();
  void begin_workers();
  void on_tick();
  void fail(const run_failed& failure);
  /// Handles the failure of a part that the run cannot do without.
  void on_failure(const run_failed& m);
  void leave(const leave_run& m);

  // -- agreement ------------------------------------------------------------------------------------------------------

  /// Passes an event to the protocol, and obeys the orders that follow.
  template <class Event>
  void on(const Event& event) {
    obey(protocol_->on(event));
  }
  template <class Event>
  void in_leader(const Event& event) {
    obey(protocol_->in_leader(event));
  }
  /// Handles news of a worker, from another node that hosts it, or from a worker of this process.
  template <class Event>
  void on_worker(rank who, const Event& event) {
    if (speaker() != nullptr)
      on(leader_report{event});
    else if (is_own(who))
      on(event);
  }
  void on_down(const caf::down_msg& down);
  void notice(const worker_lost& loss);
  void on_loss(const worker_lost& m);
  void on_complaint(const node_lost& m);
  /// True if the present message may be acted upon: it makes sense, and so has everything from its sender.
  template <class Message>
  bool admits(const Message& m) {
    return passes([&](const known_run& run) { check(m, run); });
  }
  void on_message(const consensus::message& m) {
    hear();
    on(m);
  }
  void on_heartbeat(const heartbeat& m);

  // -- newcomers ------------------------------------------------------------------------------------------------------

  void on_join(const join_request& m);
  void on_ready(const node_ready& m);
  void on_greeting(const greeting& m);
  void say_status(std::uint32_t control);
  void say_lines(const lines_request& m);
  void stop(std::uint32_t control);
  void depart(const leave_request& m);

  // -- faults ---------------------------------------------------------------------------------------------------------

  template <class Fault>
  void pass_on(const Fault& m) {
    if (lives_here(m.who))
      suffer(m);
    else if (const auto* elsewhere = others_->home_of(m.who))
      self_->send(elsewhere->handle, m);
  }
  void switch_fault(const actors::switch_fault& m);

  // -- steps and evaluations ------------------------------------------------------------------------------------------

  void on_step(const step_report& r);
  void on_applied(const gradient_applied& m);
  void on_books(const run_books& m);
  void on_report(const work_report& r);
  void on_joined(const worker_joined& m);
  void on_snapshot(snapshot& s);
  void on_taken(const snapshot_taken& s);
  void on_request(const mean_request& m);
  void on_evaluation(const evaluated& m);
  void tell_model(const mean_evaluated& m) const;
  void tell_workers(const snapshot_request& m) { own_node_->obey(m); }
  void tell_workers(const run_progress& m) { own_node_->obey(m); }
  void tell_observer(event_kind kind, const std::string& what);
  /// True if this node leads, and somebody looks on.
  bool is_watched() const { return observer_ && leadership_ && observer_->watches_workers(); }
  /// Shows an observer that watches workers the members, if they have changed, and the counts of all ranks.
  void show_workers();
  /// Shows the observer something. Where it fails, the run does, and this node lives on to tell the others.
  template <class Record>
  void show(const Record& record) {
    if (!observer_)
      return;
    try {
      record(*observer_);
    } catch (...) {
      ended_ = true;
      self_->send(setup_.client.actor, describe(std::current_exception(), "the observer"));
    }
  }

  // -- checkpoints ----------------------------------------------------------------------------------------------------

  void save_workers(const save_checkpoint& m);
  void on_part(saved_worker& part);
  void on_part_saved(const part_saved& m);
  void on_part_not_saved(const part_not_saved& m);
  void discard_parts(const part_not_saved& m);
  void on_manifest_saved(const manifest_saved& m);
  void on_complete(const checkpoint_complete& m);
  void save_what_is_left();

private:
  std::size_t workers() const { return setup_.run->settings.worker_ranks(); }
  bool lives_here(rank i) const { return i < setup_.rules->homes.size() && setup_.rules->homes[i] == setup_.number; }
  /// True if the present message is of a worker of this process, or of this node about it: a stranger may name any
  /// rank.
  bool is_own(rank who) const {
    const auto& sender = self_->current_sender();
    return (sender && sender->address() == self_->address()) || own_node_->is_worker(who, sender);
  }
  vigil::time now() const { return self_->clock().now() - began_; }
  double elapsed() const { return seconds{now()}.count(); }
  /// Returns the node that sends the present message; null if it is no node that is there.
  remote_node* speaker();
  const consensus::seats& seats() const { return protocol_->seats(); }
  /// True for a node that may be heard: not for a lost one, whose process may live, nor for one that has not come.
  bool is_spoken_to(const remote_node& other) const { return other.is_met() && !seats().is_gone(other.number); }
  bool passes(const std::function<void(const known_run&)>& check_message);
  /// Gives up a node that has said what cannot be: it is not listened to any more.
  void expel(remote_node& other, const std::string& why);
  /// Notes that the sender of the present message lives.
  void hear();
  void meet_on_data_plane();
  void review_losses();

  template <class Order>
  void tell_others(const Order& m) {
    for (const auto& other : *others_)
      if (is_spoken_to(other))
        self_->send(other.handle, m);
  }
  /// The leader hears of everything in the order in which it happened.
  template <class News>
  void tell_leader(const News& m) {
    hand_on_news();
    if (const auto* leader = others_->numbered(protocol_->leader_node()); leader != nullptr && leader->is_met())
      self_->send(leader->handle, m);
  }
  template <class Message>
  void answer(Message m) {
    self_->send(caf::actor_cast<caf::actor>(self_->current_sender()), std::move(m));
  }
  /// Tells the sender of the present message where the leader is.
  void send_on() { answer(ask_there{seats()[protocol_->leader_node()].by.control}); }

  vigil::outlook outlook() const;
  /// Draws conclusions about the other nodes, and lets those hear of this one that watch it.
  void watch_nodes();
  void say_that_it_is_here();
  void suspect(const vigil::suspicion& s);
  /// Stops speaking to a node, unless it is heard again.
  void lose(remote_node& other, const std::string& why);
  void meet(remote_node& other, node_interface::handle handle);
  bool is_stranger(const remote_node& other);
  void connect_to_strangers();
  void connect_to(const remote_node& other);
  std::optional<consensus::candidacy> seat_for(const caf::actor_addr& who, std::uint32_t wanted);
  void release_candidate(const caf::actor_addr& who);
  run_books known_books();
  void tell_voters_of_books();
  bool has_died_with_its_node(rank i);
  void say_farewell(const leave_run& m);
  node_interface::handle own_handle() const {
    return caf::actor_cast<node_interface::handle>(caf::actor_cast<caf::strong_actor_ptr>(self_));
  }
  void hand_on_news();
  void close_ended_lives();
  void look_after_run();
  void order_checkpoint_when_due();
  void count(const step_report& r);
  progress_record progress(double now);
  view_record present_view();
  workers_record present_counts();

  void suffer(const kill_worker& m) { on(m); }
  void suffer(const restart_worker& m) { on(m); }
  void suffer(const retire_worker& m) { on(m); }
  void suffer(const pause_worker& m) { own_node_->obey(m); }

  // -- orders ---------------------------------------------------------------------------------------------------------

  void obey(const node_protocol::orders& all);
  void obey(const start_worker& m) { own_node_->obey(m); }
  void obey(const stop_worker& m) { own_node_->obey(m); }
  void obey(const hold_steps& m) { own_node_->obey(m); }
  void obey(const decision& m);
  void obey(const consensus::post& m);
  void obey(const report_to& m);
  void obey(const account_for& m);
  void obey(const nodes_moved& m);
  void obey(const lead_taken& m);
  void obey(const lead_left& m);
  void obey(const node_has_left& m);
  void obey(const snapshot_request& m);
  void obey(const save_checkpoint& m);
  void obey(const restart_worker& m) { pass_on(m); }
  void obey(const forget_worker& m);
  void obey(const welcome_worker& m);
  void obey(const end_run& m);
  void obey(const run_failed& m) { fail(m); }

  // -- evaluations ----------------------------------------------------------------------------------------------------

  void evaluate_what_is_complete();
  void evaluate_next();
  void end_when_all_is_done();
  void summarise();

  caf::event_based_actor* self_ = nullptr;
  node_setup setup_;
  caf::actor evaluator_;
  caf::actor writer_; // the writer of checkpoints; null where there are none
  std::optional<view_maker> views_;
  std::optional<node_protocol> protocol_;
  std::optional<local_node> own_node_;
  std::optional<remote_nodes> others_;
  std::optional<vigil> vigil_;
  vigil::time last_heartbeat_{}, last_report_{}, last_activity_{};
  bool leader_is_watched_ = false;
  caf::actor_clock::time_point began_;

  work_report news_;               // for the leader, since the last report
  run_books books_;                // used where another process leads
  kept_models kept_;               // those of this process
  std::uint64_t last_request_ = 0; // the last request of another node for a mean of them
  std::optional<leadership> leadership_;
  std::shared_ptr<run_observer> observer_; // while this process leads; may be null
  bool ended_ = false;
  bool is_left_alone_ = false; // too few nodes are left to go on
  caf::actor rescuer_;         // gets the states of the workers here; null: the writer of checkpoints does

  std::map<caf::actor_addr, consensus::candidacy> candidates_; // processes for which seats are kept
  refusals refusals_;
  std::map<std::uint32_t, vigil::time> strangers_; // since when these nodes should have been met
  std::string leaders_end_;                        // news of a leader's end, which the next leader tells
  vigil::time last_connect_ = -std::chrono::seconds(1);
  std::set<std::uint32_t> connecting_;
  bool has_left_ = false;
  std::optional<std::set<std::uint32_t>> farewells_; // nodes that have not left yet
};

} // namespace gossamer::actors::detail
