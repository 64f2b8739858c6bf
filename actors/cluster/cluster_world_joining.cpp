// The joining side of the cluster world.
#include "gossamer/actors/agreement/failure_detector.hpp"
#include "gossamer/actors/cluster/detail/cluster_parts.hpp"
#include "gossamer/actors/cluster/detail/door_search.hpp"
#include "gossamer/actors/cluster/detail/file_sources.hpp"
#include "gossamer/actors/cluster/detail/survival.hpp"
#include "gossamer/actors/data_plane/local_address.hpp"
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/fetch/fetching.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/node/control_checks.hpp"
#include "gossamer/actors/node/node_actor.hpp"
#include "gossamer/actors/node/world.hpp"
#include "gossamer/actors/real_time/real_time.hpp"

#include <fmt/format.h>

#include <atomic>
#include <unistd.h>

namespace gossamer::actors {

using namespace detail;

namespace {

/// The part of this process until the run is over.
class membership_of_node {
public:
  membership_of_node(caf::scoped_actor& self, control_plane& control, const joining_settings& s)
      : self_(self), control_(control), settings_(s), doors_(self, control, s), leader_(s.patience),
        departure_(self, s.patience, s.ends_with_others ? s.patience : std::chrono::milliseconds{}) {}

  run_offer ask_for_offer() {
    auto offer = doors_.ask();
    check(offer);
    leader_.heard(0, now());
    return offer;
  }

  /// Returns the next message of one type. @error the failure that comes instead
  template <class Message>
  Message next() {
    std::optional<Message> result;
    while (!result) {
      hear(look_every, [&](Message& m) { result = std::move(m); });
      if constexpr (std::is_same_v<Message, leave_run>)
        if (ended_here_ || has_left_)
          return {};
    }
    return std::move(*result);
  }

  /// Fetches files from members of the run. The leader may be lost meanwhile.
  compute::data_files fetch_from_members(const run_offer& offer) {
    sources_.emplace(self_, control_, settings_.patience, doors_.door(), offer.files.members);
    auto files = fetch_files(
        *settings_.fetching, {.patience = settings_.patience},
        {.sources = sources_->names(),
         .first = offer.node,
         .ask_for_all = [this](std::uint32_t source) { sources_->ask_for_all(source); },
         .ask_for_piece = [this](std::uint32_t source, const piece_request& m) { sources_->ask_for_piece(source, m); },
         .hear = [this](std::chrono::nanoseconds patience) { return hear_of_files(patience); },
         .now = [this] { return now(); },
         .tell = settings_.tell});
    sources_.reset();
    return files;
  }

  /// Returns the offer of the present leader: a new one if the former leader has been lost meanwhile.
  run_offer renewed(const run_offer& offer) {
    if (!std::exchange(is_leaderless_, false))
      return offer;
    if (offer.files.members.empty())
      throw doors_.lost();
    doors_.search_elsewhere(offer, 2 * settings_.patience); // the nodes left agree on another leader in that time
    auto again = ask_for_offer();
    if (again.run != offer.run)
      throw error(errc::failed, fmt::format("another run is led at {}", to_string(door())), "start the node again");
    return again;
  }
  /// The door at which the run was found.
  const endpoint& door() const noexcept { return doors_.where(); }

  template <class Message>
  void tell(Message m) {
    self_->send(doors_.door(), std::move(m));
  }

  // Threads: any.
  void begin() { begun_ = true; }
  bool has_begun() const { return begun_; }
  bool has_left() const { return has_left_; }
  /// Sets the actor that is told when this node shall leave.
  void leaves_through(caf::actor node) { node_ = std::move(node); }
  std::shared_ptr<run_observer> lead(std::shared_ptr<run_observer> observer, const caf::actor& injector) const {
    return while_leading(leads_, std::move(observer), injector);
  }

private:
  std::optional<file_news> hear_of_files(std::chrono::nanoseconds patience) {
    if (auto news = sources_->take())
      return news;
    hear(
        patience, [&](file_catalogue& m) { keep(std::move(m)); }, [&](piece& m) { keep(std::move(m)); },
        [&](no_files& m) { keep(source_lost{"says: " + m.why}); },
        [&](const member_called& m) { sources_->on_called(m); });
    if (settings_.interrupted()) // even while pieces come without a pause
      leave_interrupted();
    return sources_->take();
  }
  template <class News>
  void keep(News news) {
    if (doors_.is_heard())
      leader_.heard(0, now()); // its other messages may wait behind this one
    sources_->on_news(std::move(news));
  }

  /// Handles one message, or none within so much time. @error the failure that comes instead
  template <class... Handlers>
  void hear(std::chrono::nanoseconds patience, Handlers... handlers) {
    if (!begun_ && !is_leaderless_)
      watch_leader();
    bool idle = false;
    self_->receive(
        std::move(handlers)..., [&](const run_status&) { leader_.heard(0, now()); },
        [&](const ask_there& m) {
          if (!begun_ && doors_.is_heard()) // else an earlier door answers
            sources_ ? miss_leader("does not lead any more") : throw sent_on{m.where};
        },
        [&](const run_summary& m) { // this process has come to lead the run
          ended_here_ = true;
          settings_.ends(m);
        },
        [&](const node_has_left&) { has_left_ = true; }, [](const will_leave&) {},
        [&](const run_failed& f) { throw error(f.code, words_before_news(self_, node_) + f.sentence, f.remedy); },
        [&](const caf::down_msg& m) { lose(m); }, caf::after(patience) >> [&] { idle = true; });
    if (idle && node_ && begun_ && !*leads_ && settings_.leaves())
      departure_.go_on(node_);
    else if (idle && settings_.interrupted() && !*leads_)
      leave_interrupted();
  }

  failure_detector::time now() const { return self_->clock().now().time_since_epoch(); }

  /// Watches the leader until the plan comes; from then on the node actor does. Before, there is the leader's door
  /// alone, which breaks no connection when its process is stopped, but answers requests for the status.
  void watch_leader() {
    if (now() - asked_ >= heartbeat_every) {
      if (now() - asked_ > 2 * heartbeat_every) // this process had something else to do: it prepared the run
        leader_.heard(0, now());
      asked_ = now();
      tell(status_request{});
    }
    if (leader_.silent(now()).empty())
      return;
    const auto why = silent_leader(leader_.patience());
    if (sources_)
      return miss_leader(
          fmt::format("has not answered for {:.3g} s", std::chrono::duration<double>{leader_.patience()}.count()));
    throw error(why.code, why.sentence, why.remedy);
  }

  void lose(const caf::down_msg& m) {
    if (node_ && m.source == node_.address())
      throw error(errc::failed, "the run goes on without this node", "its leader has given it up, or it has failed");
    if (sources_)
      sources_->on_down(m);
    if (m.source != doors_.door().address() || begun_) // another node leads then
      return;
    if (!sources_)
      doors_.throw_loss();
    is_leaderless_ = true;
  }
  /// Goes on without the leader: the other members have the files, too.
  void miss_leader(const std::string& why) {
    is_leaderless_ = true;
    sources_->lose(0, why);
  }

  caf::scoped_actor& self_;
  control_plane& control_;
  const joining_settings& settings_;
  door_search doors_;
  failure_detector leader_;
  failure_detector::time asked_{};
  std::atomic<bool> begun_ = false;
  lead_flag leads_ = std::make_shared<std::atomic<bool>>(false);
  bool ended_here_ = false, has_left_ = false;
  bool is_leaderless_ = false;          // the leader was lost while files were fetched
  std::optional<file_sources> sources_; // while files are fetched
  caf::actor node_;
  departure departure_;
};

std::vector<rank> ranks_of(const cluster_plan& plan, std::uint32_t node) {
  std::vector<rank> result;
  for (rank i = 0; i < plan.homes.size(); ++i)
    if (plan.homes[i] == node)
      result.push_back(i);
  return result;
}

std::string introduction(std::uint32_t node) { return fmt::format("this is node {}, process {}", node, getpid()); }

/// Says that settings which this program refuses are those of the leader's program.
preparation of_the_leader(const preparation& prepare) {
  return [&prepare](const std::string& settings, const compute::data_files& fetched) {
    try {
      return prepare(settings, fetched);
    } catch (const error& problem) {
      if (problem.code() != errc::usage)
        throw;
      throw error(errc::usage, "the leader's run cannot be prepared here: " + problem.sentence(),
                  problem.remedy() + "; if the leader runs another program or version, start that one here");
    }
  };
}

/// Prepares the run from the data of this machine. Where files may be fetched, and these are not the same as the
/// leader's, from those of other members.
std::shared_ptr<const experiment> prepare_or_fetch(const joining_settings& s, const preparation& prepare,
                                                   run_offer& offer, membership_of_node& here) {
  if (!s.fetching)
    return prepare(offer.settings, {});
  try {
    auto e = prepare(offer.settings, {});
    const auto print = fingerprint_of(*e);
    const auto files = files_of(e->settings, e->known);
    const bool begins_in_file = files.contains(initial_role) || files.contains(model_role);
    // An initial model that is drawn may differ in a rounding.
    if (print.data == offer.files.data && (!begins_in_file || print.initial == offer.files.initial))
      return e;
    s.tell("the data here is not the leader's");
  } catch (const error& problem) {
    if (problem.code() != errc::io && problem.code() != errc::bad_data)
      throw;
    s.tell(problem.sentence());
  }
  const auto files = here.fetch_from_members(offer);
  const auto number = offer.node;
  offer = here.renewed(offer);
  if (offer.node != number)
    s.tell(introduction(offer.node));
  return prepare(offer.settings, files);
}

/// Returns the plan of faults, and the checkpoints, that the offer names.
run_surroundings surroundings_of(const run_offer& offer, const joining_settings& s) {
  run_surroundings around;
  around.wishes = s.wishes;
  around.trace = s.trace;
  if (!offer.faults.empty())
    around.faults = parse_plan(offer.faults, "the leader's plan of faults");
  around.workers_per_node = offer.workers_per_node;
  if (!offer.checkpoints.empty())
    around.checkpoints = checkpoint_folder{offer.checkpoints};
  if (offer.from.checkpoint > 0)
    around.from = std::make_shared<const resumption>(checkpoint_folder{offer.resumed}.parts_here(offer.from, s.tell));
  return around;
}

/// Injects faults once this process leads, if it has wishes for them.
class later_injector {
public:
  later_injector(caf::actor_system& system, const experiment& e, const std::shared_ptr<fault_board>& board,
                 const run_surroundings& around)
      : system_(system), has_wishes_(around.wishes != nullptr),
        injector_(spawn_injector(system, e, board, around, node_)) {}

  void inject_through(const caf::actor& node) { *node_ = node; }
  /// Notes the time of the run. Faults count from where it goes on from a checkpoint.
  void know_time(const cluster_plan& plan, const resumption* from) {
    began_s_ = now_s() - plan.time_s + (from != nullptr && !plan.begins ? from->all.time_s : 0);
  }
  void begin() const {
    if (has_wishes_)
      caf::anon_send(injector_.actor, start_faults{*node_, now_s() - began_s_});
  }
  const caf::actor& actor() const noexcept { return injector_.actor; }

private:
  double now_s() const { return std::chrono::duration<double>(system_.clock().now().time_since_epoch()).count(); }

  caf::actor_system& system_;
  bool has_wishes_;
  std::shared_ptr<caf::actor> node_ = std::make_shared<caf::actor>();
  scoped_life injector_;
  double began_s_ = 0;
};

/// Waits for the end of the run, or of this node's part. @returns as `join_cluster`
bool take_part(membership_of_node& here, farewell& at_the_end) {
  const auto order = here.next<leave_run>();
  at_the_end.why = order.why;
  at_the_end.code = order.code;
  if (!order.why.empty())
    throw error(order.code, "the leader says: " + order.why, "");
  return !here.has_left();
}

/// @returns as `join_cluster` @error sent_on
bool ask_and_take_part(const joining_settings& s, const preparation& prepare) {
  control_plane control{s};
  auto& system = control.system;
  caf::scoped_actor self{system};
  membership_of_node here{self, control, s};
  auto offer = here.ask_for_offer();
  s.tell(introduction(offer.node));
  auto e = prepare_or_fetch(s, of_the_leader(prepare), offer, here);
  control.expect(e->participants());
  const auto print = fingerprint_of(*e);
  const auto around = surroundings_of(offer, s);
  if (around.from)
    e = e->after(around.from->all);

  constexpr std::size_t evaluator = 1, writer = 1;
  require_threads(threads_of_node + evaluator + writer); // and one for each worker, when it comes
  const scoped_life files{spawn_files_of(system, *e)};
  const auto complain = std::make_shared<complaints>();
  const auto host = local_address_towards(here.door());
  const scoped_plane plane{control, *e, offer, print, s, host, complain};
  const auto world = std::make_shared<const real_time>(system, e, around, e->settings.workers);
  const auto door = std::make_shared<endpoint>();
  later_injector injector{system, *e, world->board(), around};
  const auto own_process = [&, door] {
    return consensus::process{offer.life, announced(plane.shared->listens_on(), s), *door};
  };
  const auto prepare_node = [&, door](const cluster_plan& plan) {
    check(plan, offer.node, e->participants());
    const auto parts = world->parts(plane.shared, offer.node, plan.homes);
    if (parts.from && plan.begins) // who comes later gets the state of a worker that is there
      require_states(*parts.from, *e, ranks_of(plan, offer.node));
    auto setup = setup_of(system, e, parts);
    setup.number = offer.node;
    join_others(setup, control, plane.shared, world, s, plan);
    if (!plan.begins)
      setup.comes_as = own_process();
    setup.others.offer = offer;
    setup.others.files = files.actor;
    setup.others.print = print;
    injector.know_time(plan, around.from.get());
    setup.client.observe = [&, door] {
      injector.begin();
      return here.lead(s.leads({e, offer.folder, *door, around.workers_per_node}), injector.actor());
    };
    setup.client.interrupted = s.interrupted;
    setup.client.stop = s.stop;
    setup.client.actor = self;
    here.begin();
    s.joined(*door);
    return setup;
  };
  const scoped_life node{spawn_node_later(system, prepare_node, self, files.actor)};
  injector.inject_through(node.actor);
  *door = announced(control.publish(node.actor, {host, 0}), s);
  s.listens(*door);
  complain->send_to(node.actor);
  farewell at_the_end{self, node.actor, s.patience};
  const auto own = own_process();
  here.tell(node_ready{offer.node, print, own.data, own.control, caf::actor_cast<node_interface::handle>(node.actor)});
  self->monitor(node.actor);
  here.leaves_through(node.actor);
  try {
    return take_part(here, at_the_end);
  } catch (const error&) {
    if (auto left = here.has_begun() ? rescued(self, node.actor, *e) : std::nullopt)
      s.survives({e, offer.folder, offer.node, *std::move(left)});
    throw;
  }
}

} // namespace

bool join_cluster(const joining_settings& s, const preparation& prepare) {
  constexpr int most_times = 5;
  auto asks = s;
  for (int times = 1;; ++times)
    try {
      return ask_and_take_part(asks, prepare);
    } catch (const sent_on& m) {
      if (times == most_times)
        throw;
      s.tell(m.sentence() + "; it asks again");
      asks = m.settings_to_ask_again(s);
    }
}

} // namespace gossamer::actors
