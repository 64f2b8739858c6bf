#include "gossamer/actors/cluster/cluster_world.hpp"

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"
#include "gossamer/actors/cluster/detail/survival.hpp"
#include "gossamer/actors/hosting/injector.hpp"
#include "gossamer/actors/real_time/real_time.hpp"
#include "gossamer/base/entropy.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

using namespace detail;

namespace {

assembly wait_for_nodes(caf::scoped_actor& self, const leader_settings& s) {
  const auto until = self->clock().now() + s.wait;
  std::optional<assembly> all;
  while (!all) {
    self->receive([&](assembly& a) { all = std::move(a); }, caf::after(look_every) >> [] {});
    if (!all && s.interrupted())
      throw error(errc::interrupted, "interrupted while it waited for nodes", "");
    if (!all && self->clock().now() > until)
      throw error(errc::failed, fmt::format("not all of {} nodes have come within {} s", s.nodes, s.wait.count()),
                  "start the others with the line that was printed, or wait longer: --wait");
  }
  return std::move(*all);
}

/// Tells the nodes that have come why there will be no run. Waits until they are gone, but not for long.
void call_off(caf::scoped_actor& self, const caf::actor& door, const error& why, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
  self->monitor(door);
  self->send(door, run_called_off{{errc::failed, why.sentence(), why.remedy()}});
  const auto until = self->clock().now() + std::min(longest_wait, patience);
  for (bool gone = false; !gone && self->clock().now() < until;)
    self->receive([&](const caf::down_msg&) { gone = true; }, caf::after(look_every) >> [] {});
}

assembly assembled(caf::scoped_actor& self, const caf::actor& door, const leader_settings& s) {
  try {
    return s.nodes > 1 ? wait_for_nodes(self, s) : assembly{};
  } catch (const error& why) {
    call_off(self, door, why, s.patience);
    throw;
  }
}

/// Returns the plan with which the run begins. It has a node for each rank that may come some day.
cluster_plan founding_plan(const experiment& e, const assembly& all, const consensus::process& own,
                           const leader_settings& s) {
  std::vector<std::uint32_t> shares{s.slots};
  std::map<consensus::node_number, consensus::process> there{{0, own}};
  for (const auto& member : all.nodes) {
    shares.push_back(member.slots);
    there.emplace(there.size(), consensus::process{0, member.ready.data, member.ready.control});
  }
  cluster_plan plan{
      .nodes = static_cast<std::uint32_t>(there.size()), .homes = {}, .last = {}, .handle = {}, .books = {}};
  plan.homes.resize(e.participants());
  const auto ranks = deal_ranks(e.settings.workers, e.masters, shares);
  for (consensus::node_number k = 0; k < ranks.size(); ++k)
    for (const auto i : ranks[k])
      plan.homes[i < e.settings.workers ? i : i + e.vacancies().size()] = k;
  for (const auto i : e.vacancies())
    plan.homes[i] = plan.nodes++;
  plan.last = founding_of(e, *charter_of(e, plan.nodes, plan.homes, s.patience), there);
  return plan;
}

std::vector<node_place> places_of(const cluster_plan& plan) {
  std::vector<node_place> result;
  for (const auto& [number, process] : plan.last.nodes)
    result.push_back({process.control, {}});
  for (rank i = 0; i < plan.homes.size(); ++i)
    if (plan.homes[i] < result.size())
      result[plan.homes[i]].ranks.push_back(i);
  return result;
}

void check_nodes(const experiment& e, const leader_settings& s) {
  if (s.nodes < 1 || s.nodes > e.settings.workers)
    throw error(errc::usage, fmt::format("{} nodes cannot share {} workers", s.nodes, e.settings.workers),
                "each node has at least one: use fewer nodes or more --workers");
}

run_settings settings_for_others(const experiment& e, const leader_settings& s) {
  auto result = e.settings;
  if (!s.device_of_others.empty())
    result.device = s.device_of_others;
  return result;
}

/// Goes on with the faults after another leader, if the injector has stopped meanwhile.
void begin_again(const caf::actor& injector, const caf::actor& node, std::chrono::duration<double> since_begin,
                 const run_surroundings& around) {
  if (around.wishes)
    caf::anon_send(injector, start_faults{node, since_begin.count()});
}

} // namespace

run_summary lead_cluster(std::shared_ptr<const experiment> e, const leader_settings& s,
                         const run_surroundings& around) {
  if (around.from)
    e = e->after(around.from->all);
  check_nodes(*e, s);
  require_threads_of(*e, e->settings.workers / s.nodes, threads_of_control + threads_of_node);
  control_plane control{s};
  control.expect(e->participants());
  auto& system = control.system;
  caf::scoped_actor self{system};
  const auto print = fingerprint_of(*e);
  const scoped_life files{spawn_files_of(system, *e)};
  const run_offer offer{.node = 0,
                        .run = secret_number(),
                        .settings = to_text(settings_for_others(*e, s)),
                        .faults = !around.faults.harms() ? "" : to_toml(around.faults),
                        .workers_per_node = around.workers_per_node,
                        .checkpoints = around.checkpoints ? absolute(around.checkpoints->path()).string() : "",
                        .resumed = around.from ? absolute(std::filesystem::path{around.from->folder}).string() : "",
                        .from = around.from ? around.from->all : manifest{},
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
                                                   .files = files.actor,
                                                   .may_grow = e->settings.worker_ranks() > e->settings.workers})};
  const auto listens = announced(control.publish(door.actor, s.where), s);
  s.listens(listens);
  const auto all = assembled(self, door.actor, s);
  auto plan = founding_plan(*e, all, {0, announced(plane.shared->listens_on(), s), listens}, s);
  const auto places = places_of(plan);
  s.begins(places);

  const auto world = std::make_shared<const real_time>(system, e, around, places[0].ranks.size());
  const auto to_node = std::make_shared<caf::actor>();
  const scoped_life injector{spawn_injector(system, *e, world->board(), around, to_node)};
  auto setup = setup_of(system, e, world->parts(plane.shared, 0, plan.homes));
  join_others(setup, control, plane.shared, world, s, plan);
  for (const auto& member : all.nodes)
    setup.others.met[member.ready.node] = member.ready.handle;
  setup.others.offer = offer;
  setup.others.files = files.actor;
  setup.others.print = print;
  setup.client.stop = s.stop;
  const auto leads = std::make_shared<std::atomic<bool>>(true);
  setup.client.observe = [&, leads, to_node, injects = injector.actor, begins = system.clock().now(),
                          again = false]() mutable {
    if (std::exchange(again, true)) {
      s.leads_again(listens);
      begin_again(injects, *to_node, system.clock().now() - begins, around);
    }
    return while_leading(leads, {std::shared_ptr<void>{}, around.observer}, injects);
  };
  setup.client.interrupted = around.interrupted;
  setup.client.steps_to = around.faults.needs_steps() ? injector.actor : caf::actor{};
  setup.client.actor = self;
  const scoped_life node{spawn_node(system, std::move(setup))};
  *to_node = node.actor;
  complain->send_to(node.actor);
  plan.handle = caf::actor_cast<node_interface::handle>(node.actor);
  for (const auto& member : all.nodes)
    self->send(member.ready.handle, plan);
  caf::anon_send(door.actor, run_begins{node.actor});
  farewell at_the_end{self, node.actor, s.patience};
  self->monitor(node.actor);
  self->send(node.actor, start_run{});
  self->send(injector.actor, start_faults{node.actor});
  departure leaving{self, s.patience};
  try {
    auto summary = outcome(self, [&] {
      if (!*leads && around.interrupted && around.interrupted())
        leaving.go_on(node.actor);
    });
    s.ends(summary);
    at_the_end.why.clear();
    return summary;
  } catch (const error& problem) {
    at_the_end.why = problem.what();
    at_the_end.code = problem.code();
    if (auto left = rescued(self, node.actor, *e))
      s.survives({e, s.folder, 0, *std::move(left)});
    throw;
  }
}

} // namespace gossamer::actors
