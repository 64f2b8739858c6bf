#include "gossamer/actors/node/world.hpp"

#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/hosting/checkpoint_writer.hpp"
#include "gossamer/actors/hosting/delivery_thread.hpp"
#include "gossamer/actors/hosting/run_trace.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

/// Returns the state that a rank goes on from: its own, or, for a worker that has none, that of another worker.
const saved_worker& state_for(const resumption& from, const experiment& e, rank i) {
  const auto before = from.all.workers;
  const bool is_master = e.is_master(i);
  const auto role = is_master ? before + i - e.settings.worker_ranks() : i % before;
  if (const auto own = from.parts.find(static_cast<rank>(role)); own != from.parts.end())
    return own->second;
  const auto other = from.parts.begin();
  if (is_master || from.all.parts.contains(static_cast<rank>(role)) || other == from.parts.end()
      || other->first >= before)
    throw error(errc::bad_data, fmt::format("checkpoint {} has no state for {}", from.all.checkpoint, e.name_of(i)),
                "copy its file from the machine that had it into the folder of the run");
  return other->second;
}

/// Returns a life for a worker that is not the saved one: none of those before the checkpoint, unless they were many.
std::uint32_t later_life(const resumption& from, std::uint32_t incarnation) {
  return static_cast<std::uint32_t>(from.all.checkpoint) + 1 + incarnation;
}

void go_on_from(const resumption& from, const experiment& e, worker_place& place) {
  const auto& saved = state_for(from, e, place.id);
  const bool is_own = e.is_master(place.id) || saved.who == place.id;
  place.saved = std::make_shared<const std::vector<std::byte>>(saved.state);
  place.inherits = !is_own || from.all.workers != e.settings.worker_ranks();
  if (!e.algorithm->traits.synchronous) // a worker that goes on from another one's step would repeat its draws
    place.random_life = is_own ? saved.random_life : later_life(from, 0);
  if (is_own) {
    place.gradients = saved.gradients;
    place.sent = saved.sent;
  }
}

/// Masters are evaluated where the leader is, so that their models outlive their nodes.
auto masters_models_over(const std::shared_ptr<transport>& net, const experiment& e) {
  const auto ways = std::make_shared<std::map<std::pair<rank, std::uint32_t>, std::unique_ptr<link>>>();
  return [net, ways, participants = e.participants(), pool = e.pool](const snapshot& s, std::uint32_t node) {
    auto& way = (*ways)[{s.source, node}];
    if (!way)
      way = net->link_to(s.source, evaluating_life(participants, node));
    way->send(to_frame(s, pool));
  };
}

/// Starts a worker of this process.
auto starter_of(caf::actor_system& system, std::shared_ptr<const experiment> e, world_parts parts,
                std::shared_ptr<gauge_board> gauges) {
  const auto kept = std::make_shared<kept_states>(), left_out = std::make_shared<kept_states>();
  return [&system, e, parts, kept, left_out, gauges](rank i, std::uint32_t incarnation, const caf::actor& node) {
    worker_setup setup;
    setup.settings = e->for_worker(i, incarnation);
    setup.gauge = gauges->open(i);
    setup.settings.witness = parts.witness != nullptr ? parts.witness : setup.gauge.get();
    setup.settings.packing.coder = measured(std::move(setup.settings.packing.coder), setup.gauge);
    if (parts.trace)
      setup.settings.packing.coder = parts.trace->watch(i, std::move(setup.settings.packing.coder));
    if (parts.from && incarnation == 0)
      go_on_from(*parts.from, *e, setup.settings.place);
    else if (parts.from && setup.settings.place.random_life > 0)
      setup.settings.place.random_life = later_life(*parts.from, incarnation);
    setup.algorithm = e->make_algorithm(i, *setup.settings.packing.coder);
    setup.optimiser = e->device_of(i).optimiser->clone();
    setup.own_thread = parts.may_wait && e->device_of(i).where.on_gpu();
    setup.on_compute_failure = e->algorithm->traits.on_compute_failure;
    if (!e->is_master(i))
      setup.spawn_compute = [i, life = setup.settings.place.random_life,
                             start = parts.spawn_compute](caf::local_actor* parent) { return start(parent, i, life); };
    setup.transport = parts.transport;
    setup.acknowledged = parts.acknowledged;
    setup.most_under_way = e->most_under_way();
    if (parts.acknowledged && e->is_master(i)) {
      setup.kept = kept;
      if (setup.settings.place.saved) // saved in a checkpoint
        kept->keep(i, *setup.settings.place.saved);
      setup.settings.place.saved = kept->last_of(i);
      if (incarnation == 0 && !setup.settings.place.saved)
        kept->keep(i, {}); // no node has seen anything of it
    }
    setup.left_out = left_out;
    if (auto state = left_out->take(i))
      (e->is_master(i) ? setup.settings.place.saved : setup.settings.place.learnt) = std::move(state);
    setup.clock = parts.clock;
    setup.name = e->name_of(i);
    setup.node = node;
    auto started = spawn_worker(system, std::move(setup));
    parts.transport->attach({i, incarnation}, [started, alone = parts.alone](frame f) {
      alone ? deliver(started, std::move(f)) : caf::anon_send(started, std::move(f));
    });
    return started;
  };
}

} // namespace

void require_states(const resumption& from, const experiment& e, std::span<const rank> ranks) {
  for (const auto i : ranks)
    state_for(from, e, i);
}

void add_checkpoints(world_parts& parts, caf::actor_system& system, const experiment& e, const run_surroundings& around,
                     bool own_thread) {
  parts.from = around.from;
  if (!e.settings.checkpoint.is_set())
    return;
  parts.spawn_checkpoint_writer = [&system, folder = around.checkpoints, workers = e.settings.worker_ranks(),
                                   own_thread](const caf::actor& owner) {
    return spawn_checkpoint_writer(system, {folder, workers, owner, own_thread});
  };
}

std::shared_ptr<const consensus::charter> charter_of(const experiment& e, std::uint32_t nodes,
                                                     std::vector<std::uint32_t> homes,
                                                     std::chrono::nanoseconds patience) {
  constexpr double beyond_patience = 1.5;
  const auto& traits = e.algorithm->traits;
  const auto planned = e.settings.epochs && !e.settings.steps ? std::optional{e.steps_per_worker * e.settings.workers}
                                                              // the updates ahead are left out
                                                              : std::nullopt;
  return std::make_shared<const consensus::charter>(
      consensus::charter{.nodes = nodes,
                         .homes = std::move(homes),
                         .synchronous = traits.synchronous,
                         .plan = consensus::membership_rules(traits, e.settings.worker_ranks(), planned, e.islands),
                         .longest_hold_s = beyond_patience * std::chrono::duration<double>{patience}.count()});
}

consensus::resolution founding_of(const experiment& e, const consensus::charter& rules,
                                  const std::map<consensus::node_number, consensus::process>& there) {
  std::set<consensus::node_number> voters;
  for (const auto& [number, _] : there)
    if (voters.size() < consensus::most_voters)
      voters.insert(number);
  auto first = consensus::founding(rules.homes, voters, rules.synchronous ? e.steps_per_worker : e.planned_updates,
                                   e.vacancies());
  for (const auto& [number, process] : there)
    first.nodes[number] = process;
  return first;
}

void join_others(node_setup& setup, const cluster_plan& plan, std::chrono::nanoseconds patience,
                 const std::shared_ptr<transport>& net) {
  setup.rules = charter_of(*setup.run, plan.nodes, plan.homes, patience);
  setup.last = plan.last;
  setup.time_s = plan.time_s;
  setup.books = plan.books;
  if (plan.handle)
    setup.others.met.emplace(plan.last.leader, plan.handle);
  setup.patience = patience;
  setup.others.send_masters_model = masters_models_over(net, *setup.run);
}

node_setup setup_of(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts) {
  node_setup setup;
  setup.run = e;
  setup.detection = parts.detection;
  setup.spawn.gauges = std::make_shared<gauge_board>(parts.witness == nullptr, parts.trace, parts.islands);
  setup.spawn.worker = starter_of(system, e, parts, setup.spawn.gauges);
  setup.spawn.evaluator = parts.spawn_evaluator;
  setup.spawn.checkpoint_writer = parts.spawn_checkpoint_writer;
  setup.from = parts.from;
  setup.faults = parts.faults;
  setup.client.on_checkpoint = parts.on_checkpoint;
  return setup;
}

caf::actor spawn_run(caf::actor_system& system, std::shared_ptr<const experiment> e, const world_parts& parts,
                     run_client client) {
  auto setup = setup_of(system, e, parts);
  setup.rules = charter_of(*e, 1, std::vector<std::uint32_t>(e->participants()), setup.patience);
  setup.last = founding_of(*e, *setup.rules, {{0, {}}});
  setup.client.observe = [observer = client.observer] {
    return std::shared_ptr<run_observer>{std::shared_ptr<void>{}, observer};
  };
  setup.client.interrupted = std::move(client.interrupted);
  setup.client.steps_to = client.steps_to;
  setup.client.actor = client.client;
  return spawn_node(system, std::move(setup));
}

run_summary outcome(caf::scoped_actor& client, const std::function<void()>& look) {
  std::optional<run_summary> summary;
  std::optional<run_failed> failure;
  bool has_left = false;
  while (!summary && !failure && !has_left)
    client->receive([&](run_summary& s) { summary = std::move(s); }, [&](run_failed& f) { failure = std::move(f); },
                    [&](const leave_run& m) {
                      failure = run_failed{m.code,
                                           m.why.empty() ? "another node has led the run to its end"
                                                         : "the node that leads the run now says: " + m.why,
                                           "the run folder has what it came to, where all see the same folder"};
                    },
                    [&](const node_has_left&) { has_left = true; }, [](const will_leave&) {},
                    [&](const caf::down_msg&) {
                      failure = run_failed{errc::failed, "the run goes on without this node",
                                           "whoever leads it now has given this one up"};
                    },
                    caf::after(std::chrono::milliseconds(100)) >> look);
  if (has_left)
    throw node_has_gone{errc::failed, "this node has left, as it was asked to; the run goes on"};
  if (failure)
    throw error(failure->code, failure->sentence, failure->remedy);
  return std::move(*summary);
}

} // namespace gossamer::actors
