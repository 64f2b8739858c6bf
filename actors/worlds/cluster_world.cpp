#include "gossamer/actors/worlds/cluster_world.hpp"

#include "gossamer/actors/faults/injector.hpp"
#include "gossamer/actors/worlds/detail/cluster_parts.hpp"
#include "gossamer/actors/worlds/real_time.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace gossamer::actors {

using namespace detail;

namespace {

/// A number that nobody guesses: not from the run's seed.
std::uint64_t drawn_run() {
  std::uint64_t run = 0;
  if (getentropy(&run, sizeof run) != 0)
    throw error(errc::io, fmt::format("the system gives no random number: {}", std::strerror(errno)));
  return run;
}

assembly wait_for_nodes(caf::scoped_actor& self, const leader_settings& s) {
  const auto until = self->clock().now() + s.wait;
  std::optional<assembly> all;
  while (!all) {
    self->receive([&](assembly& a) { all = std::move(a); }, caf::after(look_every) >> [] {});
    if (!all && s.interrupted())
      throw error(errc::failed, "interrupted while it waited for nodes", "");
    if (!all && self->clock().now() > until)
      throw error(errc::failed, fmt::format("not all of {} nodes have come within {} s", s.nodes, s.wait.count()),
                  "start the others with the line that was printed, or wait longer: --wait");
  }
  return std::move(*all);
}

std::vector<node_entry> entries_of(const experiment& e, const assembly& all, const endpoint& own, std::uint32_t slots) {
  std::vector<std::uint32_t> shares{slots};
  std::vector<node_entry> result{{0, own, {}}};
  for (const auto& member : all.nodes) {
    shares.push_back(member.slots);
    result.push_back({0, member.ready.data, {}});
  }
  const auto ranks = deal_ranks(e.settings.workers, e.masters, shares);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    result[k].ranks = ranks[k];
  return result;
}

/// Who the nodes of a run are, as its leader knows them. Threads: safe.
class run_nodes {
public:
  run_nodes(std::shared_ptr<data_plane> plane, std::size_t participants, std::vector<node_entry> entries,
            const assembly& all)
      : plane_(std::move(plane)), participants_(participants), entries_(std::move(entries)) {
    for (const auto& member : all.nodes)
      handles_[member.ready.node] = member.ready.handle;
    plane_->meet(addresses_of(entries_, participants_));
  }
  std::vector<remote_node> remote() const {
    std::vector<remote_node> result;
    for (const auto& [number, handle] : handles_)
      result.push_back({.number = number, .handle = handle, .ranks = entries_[number].ranks});
    return result;
  }
  std::size_t ranks_of_leader() const { return entries_[0].ranks.size(); }

  /// Everybody learns who is where.
  void begin(const caf::actor& coordinator) {
    const std::scoped_lock lock{mutex_};
    coordinator_ = coordinator;
    tell_all(plan());
  }
  void come_back(const node_ready& m, std::uint32_t incarnation) {
    const std::scoped_lock lock{mutex_};
    if (over_)
      return;
    auto& entry = entries_[m.node];
    entry.incarnation = incarnation;
    entry.data = m.data;
    handles_[m.node] = m.handle;
    plane_->meet(addresses_of(entries_, participants_));
    tell_all(plan());
    caf::anon_send(coordinator_, node_returned{m.node, m.handle});
  }

  template <class Message>
  void tell(const Message& m) const {
    const std::scoped_lock lock{mutex_};
    tell_all(m);
  }

  /// The run is over: sends all away, and waits for them, but not for ever. @param why empty: as planned
  void part(caf::scoped_actor& self, const std::string& why, std::chrono::milliseconds patience) {
    constexpr std::chrono::milliseconds longest_farewell = std::chrono::seconds(5);
    const std::scoped_lock lock{mutex_};
    over_ = true;
    for (const auto& [number, handle] : handles_) {
      self->monitor(handle);
      self->send(handle, leave_run{why});
    }
    const auto until = self->clock().now() + std::min(longest_farewell, patience);
    for (std::size_t left = handles_.size(); left > 0 && self->clock().now() < until;)
      self->receive([&](const caf::down_msg&) { --left; }, caf::after(look_every) >> [] {});
  }

private:
  cluster_plan plan() const { return {entries_, caf::actor_cast<coordinator_interface::handle>(coordinator_)}; }
  template <class Message>
  void tell_all(const Message& m) const {
    for (const auto& [number, handle] : handles_)
      caf::anon_send(handle, m);
  }

  std::shared_ptr<data_plane> plane_;
  std::size_t participants_;
  mutable std::mutex mutex_;
  std::vector<node_entry> entries_; // by number
  std::map<std::uint32_t, node_interface::handle> handles_;
  caf::actor coordinator_;
  bool over_ = false;
};

/// However the run ends, its nodes are told.
struct farewell {
  caf::scoped_actor& self;
  const std::shared_ptr<run_nodes>& nodes;
  std::chrono::milliseconds patience;
  std::string why = "the run failed";

  ~farewell() { nodes->part(self, why, patience); }
};

/// Keeps the last progress, for those who ask. Threads: safe.
class progress_board final : public run_observer {
public:
  explicit progress_board(run_observer* next) : next_(next) {}
  void on_progress(const progress_record& p) override {
    {
      const std::scoped_lock lock{mutex_};
      last_ = p;
    }
    if (next_)
      next_->on_progress(p);
  }
  void on_evaluation(const evaluation_record& r) override {
    if (next_)
      next_->on_evaluation(r);
  }
  void on_event(double time_s, const std::string& what) override {
    if (next_)
      next_->on_event(time_s, what);
  }
  progress_record last() const {
    const std::scoped_lock lock{mutex_};
    return last_;
  }

private:
  run_observer* next_; // may be null
  mutable std::mutex mutex_;
  progress_record last_;
};

std::vector<node_place> places_of(const std::vector<node_entry>& entries) {
  std::vector<node_place> result;
  result.reserve(entries.size());
  for (const auto& e : entries)
    result.push_back({e.data, e.ranks});
  return result;
}

/// Where those who come back are reported, as soon as there is a run.
class returns {
public:
  void report(const node_ready& m, std::uint32_t incarnation) {
    const std::scoped_lock lock{mutex_};
    if (nodes_)
      nodes_->come_back(m, incarnation);
  }
  void report_to(std::shared_ptr<run_nodes> nodes) {
    const std::scoped_lock lock{mutex_};
    nodes_ = std::move(nodes);
  }

private:
  std::mutex mutex_;
  std::shared_ptr<run_nodes> nodes_;
};

void check_nodes(const experiment& e, const leader_settings& s) {
  if (s.nodes < 1 || s.nodes > e.settings.workers)
    throw error(errc::usage, fmt::format("{} nodes cannot share {} workers", s.nodes, e.settings.workers),
                "each node has at least one: use fewer nodes or more --workers");
}

} // namespace

run_summary lead_cluster(std::shared_ptr<const experiment> e, const leader_settings& s,
                         const run_surroundings& around) {
  check_nodes(*e, s);
  require_threads_of(*e, e->settings.workers / s.nodes);
  control_plane control{s};
  auto& system = control.system;
  caf::scoped_actor self{system};
  const auto print = fingerprint_of(*e);
  const run_offer offer{.node = 0,
                        .run = drawn_run(),
                        .settings = to_text(e->settings),
                        .faults = around.faults.faults.empty() ? "" : to_toml(around.faults),
                        .workers_per_node = around.workers_per_node,
                        .checkpoints = around.checkpoints ? around.checkpoints->path().string() : "",
                        .resumed = around.from ? around.from->folder : "",
                        .from = around.from ? around.from->all.checkpoint : 0};
  const auto complain = std::make_shared<complaints>();
  const scoped_plane plane{control, *e, offer, print, s, s.where.host, complain};
  const auto back = std::make_shared<returns>();
  const auto board = std::make_shared<progress_board>(around.observer);
  const scoped_life door{spawn_rendezvous(
      system, {.offer = offer,
               .print = print,
               .nodes = s.nodes - 1,
               .tell = s.tell,
               .on_return = [back](const node_ready& m, std::uint32_t incarnation) { back->report(m, incarnation); },
               .client = self,
               .progress = [board] { return board->last(); },
               .algorithm = e->algorithm->about.name,
               .stop = s.stop})};
  s.listens(control.publish(door.actor, s.where));
  const auto all = s.nodes > 1 ? wait_for_nodes(self, s) : assembly{};
  const auto entries = entries_of(*e, all, announced(*plane.shared, s), s.slots);
  s.begins(places_of(entries));

  const auto nodes = std::make_shared<run_nodes>(plane.shared, e->participants(), entries, all);
  farewell at_the_end{self, nodes, s.patience};
  const real_time world{system, e, around, nodes->ranks_of_leader()};
  const scoped_life injector{system.spawn(fault_injector, world.board(), e->participants(), around.workers_per_node,
                                          std::function([nodes](std::size_t fault, bool on) {
                                            nodes->tell(switch_fault{fault, on});
                                          }))};
  const scoped_life coordinator{
      spawn_run(system, e, world.parts(plane.shared, 0, homes_of(entries, e->settings.workers, e->participants())),
                {.observer = board.get(),
                 .interrupted = around.interrupted,
                 .client = self,
                 .steps_to = around.faults.needs_steps() ? injector.actor : caf::actor{},
                 .others = nodes->remote(),
                 .patience = s.patience})};
  complain->send_to(coordinator.actor);
  nodes->begin(coordinator.actor);
  back->report_to(nodes);
  self->send(coordinator.actor, start_run{});
  self->send(injector.actor, start_faults{coordinator.actor});
  try {
    auto summary = outcome(self);
    s.ends(summary);
    at_the_end.why.clear();
    return summary;
  } catch (const error& problem) {
    at_the_end.why = problem.what();
    throw;
  }
}

} // namespace gossamer::actors
