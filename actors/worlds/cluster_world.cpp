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

std::vector<node_entry> entries_of(const experiment& e, const assembly& all, const node_entry& own,
                                   std::uint32_t slots) {
  std::vector<std::uint32_t> shares{slots};
  std::vector<node_entry> result{own};
  for (const auto& member : all.nodes) {
    shares.push_back(member.slots);
    result.push_back({0, member.ready.data, member.ready.control, {}});
  }
  const auto ranks = deal_ranks(e.settings.workers, e.masters, shares);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    for (const auto i : ranks[k])
      result[k].ranks.push_back(i < e.settings.workers ? i : i + static_cast<rank>(e.vacancies().size()));
  for (const auto i : e.vacancies()) // a node each, that may come some day
    result.push_back({0, {}, {}, {i}, true});
  return result;
}

std::vector<node_place> places_of(const std::vector<node_entry>& entries) {
  std::vector<node_place> result;
  result.reserve(entries.size());
  for (const auto& e : entries)
    if (!e.vacant)
      result.push_back({e.data, e.ranks});
  return result;
}

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
  const scoped_life files{spawn_files_of(system, *e)};
  const run_offer offer{.node = 0,
                        .run = drawn_run(),
                        .settings = to_text(e->settings),
                        .faults = around.faults.faults.empty() ? "" : to_toml(around.faults),
                        .workers_per_node = around.workers_per_node,
                        .checkpoints = around.checkpoints ? around.checkpoints->path().string() : "",
                        .resumed = around.from ? around.from->folder : "",
                        .from = around.from ? around.from->all.checkpoint : 0,
                        .folder = s.folder,
                        .files = {{}, print.data, print.initial}};
  const auto complain = std::make_shared<complaints>();
  const scoped_plane plane{control, *e, offer, print, s, s.where.host, complain};
  const scoped_life door{spawn_rendezvous(system, {.offer = offer,
                                                   .print = print,
                                                   .nodes = s.nodes - 1,
                                                   .tell = s.tell,
                                                   .client = self,
                                                   .algorithm = e->algorithm->about.name,
                                                   .stop = s.stop,
                                                   .files = files.actor})};
  const auto listens = control.publish(door.actor, s.where);
  s.listens(listens);
  const auto all = s.nodes > 1 ? wait_for_nodes(self, s) : assembly{};
  const node_entry own{0, announced(plane.shared->listens_on(), s), announced(listens, s), {}};
  const auto entries = entries_of(*e, all, own, s.slots);
  s.begins(places_of(entries));

  const real_time world{system, e, around, entries[0].ranks.size()};
  const auto homes = residences(entries, e->participants());
  const auto to_node = std::make_shared<caf::actor>();
  const scoped_life injector{system.spawn(fault_injector, world.board(), e->participants(), around.workers_per_node,
                                          std::function([to_node](std::size_t fault, bool on) {
                                            caf::anon_send(*to_node, switch_fault{fault, on});
                                          }))};
  auto setup = setup_of(system, e, world.parts(plane.shared, 0, homes));
  join_others(setup, control, plane.shared, s, entries);
  for (const auto& member : all.nodes)
    setup.others[member.ready.node - 1].handle = member.ready.handle;
  setup.first = founding_of(*e, *setup.rules, first_voters(entries));
  setup.offer = offer;
  setup.files = files.actor;
  setup.print = print;
  setup.stop = s.stop;
  setup.observe = [&around] { return std::shared_ptr<run_observer>{std::shared_ptr<void>{}, around.observer}; };
  setup.interrupted = around.interrupted;
  setup.steps_to = around.faults.needs_steps() ? injector.actor : caf::actor{};
  setup.client = self;
  const scoped_life node{spawn_node(system, std::move(setup))};
  *to_node = node.actor;
  complain->send_to(node.actor);
  plane.shared->meet(addresses_of(entries, e->participants()));
  const cluster_plan plan{entries, 0, caf::actor_cast<node_interface::handle>(node.actor), true};
  for (const auto& member : all.nodes)
    self->send(member.ready.handle, plan);
  caf::anon_send(door.actor, run_begins{node.actor});
  farewell at_the_end{self, node.actor, s.patience};
  self->monitor(node.actor);
  self->send(node.actor, start_run{});
  self->send(injector.actor, start_faults{node.actor});
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
