#include "gossamer/actors/node/control_checks.hpp"

#include "gossamer/actors/agreement/validation.hpp"
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/faults/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

constexpr std::size_t longest_sentence = 1 << 16, longest_text = 1 << 20, longest_name = 1 << 12;
constexpr std::size_t most_members = 1 << 16;
constexpr double longest_run_s = 1e9; // 32 years: clocks count nanoseconds in 64 bits
constexpr std::uint32_t most_slots = 1 << 16;

void require(bool sensible, std::string_view what) {
  if (!sensible)
    throw error(errc::bad_packet, fmt::format("a control message {}", what),
                "all nodes of a run must be of the same version");
}

void require_count(std::uint64_t count) { require(count < most_counted, "counts further than anybody can"); }

void require_traffic(const traffic& t) {
  const auto& a = t.averaged;
  for (const auto count : {t.frames, t.payload_bits, t.wire_bits, t.bits_between_islands, a.asked, a.done, a.dropped})
    require_count(count);
}

void require_time(double s) { require(s >= 0 && s < longest_run_s, "tells a time that never is"); }

void require_text(const std::string& text, std::size_t most = longest_sentence) {
  require(text.size() <= most, "has a text that nobody reads");
}

void require_place(const endpoint& e) { require(is_host(e.host), "names a host that cannot be"); }

void require_handle(const node_interface::handle& h) { require(h != nullptr, "names no actor"); }

void require_node(std::uint32_t node, const known_run& run) {
  require(node < run.rules->nodes, "names a node that there is not");
}

void require_rank(rank i, const known_run& run) {
  require(i < run.rules->homes.size(), "names a worker that there is not");
}

/// Requires a node of the run: only nodes have a say in the agreement.
void require_member(const known_run& run) { require(run.by.has_value(), "is of somebody who is no node of the run"); }

/// Requires a worker of the sender, if that is a node.
void require_own(rank i, const known_run& run) {
  require_rank(i, run);
  require(!run.by || run.rules->homes[i] == *run.by, "speaks for a worker of another node");
}

void require_self(std::uint32_t node, const known_run& run) {
  require(!run.by || node == *run.by, "speaks for another node");
}

void require_activity(const worker_activity& a, const known_run& run) {
  require_own(a.who, run);
  const auto require_peers = [&](std::size_t peers) {
    require(peers <= worker_activity::most_peers, "tells of more peers than anybody looks at");
  };
  require_peers(a.waits_for.size());
  for (const auto whom : a.waits_for)
    require_rank(whom, run);
  for (const auto* amounts : {&a.bits_per_second, &a.waited_ns}) {
    require_peers(amounts->size());
    for (const auto& [peer, amount] : *amounts) {
      require_rank(peer, run);
      require_count(amount);
    }
  }
  require(a.used_ns.empty() || a.used_ns.size() == activities.size(), "knows other activities");
  std::ranges::for_each(a.used_ns, require_count);
}

void require_books(const run_books& m, std::size_t participants) {
  require(m.counted.ranks() == 0 || m.counted.ranks() == participants, "counts workers of another run");
  require_count(m.counted.largest());
  require_count(m.unreported);
}

void require_plan(const cluster_plan& m, std::size_t participants) {
  require(m.nodes <= topology::max_workers, "plans for more nodes than there can be");
  require(m.homes.size() == participants, "plans for another number of workers");
  require(std::ranges::all_of(m.homes, [&](auto home) { return home < m.nodes; }), "names a node that there is not");
  require_handle(m.handle);
  require_time(m.time_s);
  require_books(m.books, participants);
  consensus::charter rules;
  rules.nodes = m.nodes;
  rules.homes = m.homes;
  validate(consensus::proceed{m.last}, rules, {});
}

void require_manifest(const manifest& m) {
  require(m.workers <= topology::max_workers && m.masters <= topology::max_workers,
          "names a checkpoint of more workers than there can be");
  require(m.workers > 0 || m.checkpoint == 0, "names a checkpoint of nobody");
  require_count(m.checkpoint);
  require(m.has_possible_steps(), "counts further than anybody can");
  require_count(m.samples);
  require_count(m.former_gradients);
  require_traffic(m.former_sent);
  require_time(m.time_s);
  for (const auto& [who, part] : m.parts) {
    require(who < m.workers + m.masters, "names a worker that there is not");
    require_count(part.gradients);
    require_traffic(part.sent);
  }
}

} // namespace

// -- agreement --------------------------------------------------------------------------------------------------------

void check(const consensus::hold& m, const known_run& run) {
  require_member(run);
  require_self(m.by.node, run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::holding& m, const known_run& run) {
  require_member(run);
  require_self(m.node, run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::propose& m, const known_run& run) {
  require_member(run);
  require_self(m.by.node, run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::accepted& m, const known_run& run) {
  require_member(run);
  require_self(m.node, run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::proceed& m, const known_run& run) {
  require_member(run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::refused& m, const known_run& run) {
  require_member(run);
  validate(m, *run.rules, *run.last);
}

void check(const consensus::wish& m, const known_run&) {
  require(m.why == run_end::planned || m.why == run_end::seconds || m.why == run_end::interrupted,
          "ends the run for no reason");
}

// -- reports to the leader --------------------------------------------------------------------------------------------

void check(const worker_joined& m, const known_run& run) {
  require_own(m.source, run);
  require_count(m.step);
}

void check(const worker_paused& m, const known_run& run) { require_own(m.source, run); }

void check(const worker_finished& m, const known_run& run) { require_own(m.source, run); }

void check(const worker_lost& m, const known_run& run) { require_own(m.who, run); }

void check(const worker_waits& m, const known_run& run) { require_own(m.who, run); }

void check(const work_report& m, const known_run& run) {
  for (const auto& r : m.steps) {
    require_own(r.source, run);
    require(std::isfinite(r.loss), "has a loss that is no number");
    require_count(r.step);
    require_count(r.stale_frames);
    require_traffic(r.sent);
  }
  for (const auto& [age, times] : m.staleness) {
    require_count(age);
    require_count(times);
  }
  require(m.activity.size() <= run.rules->homes.size(), "tells of more workers than there are");
  for (const auto& a : m.activity)
    require_activity(a, run);
}

/// A master's model may have gone to a node that led.
void check(const snapshot_taken& m, const known_run& run) {
  require_rank(m.source, run);
  if (m.source < run.workers)
    require_own(m.source, run);
  require_count(m.gradients);
  require_traffic(m.sent);
}

void check(const part_saved& m, const known_run& run) {
  require_own(m.source, run);
  require_count(m.checkpoint);
  require_count(m.part.gradients);
  require_traffic(m.part.sent);
}

void check(const part_not_saved& m, const known_run&) {
  require_count(m.checkpoint);
  require_text(m.why);
}

void check(const node_lost& m, const known_run& run) {
  require_node(m.node, run);
  require_text(m.why);
}

void check(const run_failed& m, const known_run&) {
  require(m.code <= errc::device, "fails for no reason");
  require_text(m.sentence);
  require_text(m.remedy);
}

// -- orders of the leader ---------------------------------------------------------------------------------------------

void check(const kill_worker& m, const known_run& run) { require_rank(m.who, run); }

void check(const restart_worker& m, const known_run& run) { require_rank(m.who, run); }

void check(const retire_worker& m, const known_run& run) { require_rank(m.who, run); }

void check(const pause_worker& m, const known_run& run) { require_rank(m.who, run); }

void check(const mean_request& m, const known_run& run) {
  require(m.number > 0, "asks for nothing");
  require_count(m.number);
  require_node(m.root, run);
  lives_in(m.lives, run.rules->homes.size());
}

void check(const mean_evaluated& m, const known_run&) {
  require(std::isfinite(m.epoch) && m.epoch >= 0, "tells of an evaluation at an epoch that never is");
}

void check(const run_progress& m, const known_run&) { require_count(m.updates); }

void check(const save_checkpoint& m, const known_run&) { require_count(m.number); }

void check(const checkpoint_complete& m, const known_run& run) {
  require(m.whole.workers == run.workers && m.whole.workers + m.whole.masters == run.rules->homes.size(),
          "names a checkpoint of another run");
  require_manifest(m.whole);
}

void check(const run_books& m, const known_run& run) { require_books(m, run.rules->homes.size()); }

void check(const switch_fault& m, const known_run&) {
  require_text(m.fault, longest_name);
  try {
    require(m.fault.empty() || parse_plan(m.fault, "a fault").faults.size() == 1, "has a text that is not one fault");
  } catch (const error& e) {
    throw error(errc::bad_packet, e.sentence());
  }
}

void check(const leave_run& m, const known_run&) {
  require(m.code <= errc::device, "ends a run for no reason");
  require_text(m.why);
}

// -- joining ----------------------------------------------------------------------------------------------------------

void check(const greeting& m, const known_run& run) {
  require_node(m.node, run);
  require_self(m.node, run);
  require(m.handle != nullptr && m.handle == run.sender, "greets for somebody else");
  require(consensus::seats::may_exist(m.self.life, run.last->number()), "greets in a life that nobody can have given");
  require_place(m.self.data);
  require_place(m.self.control);
}

void check(const cluster_plan& m, const known_run& run) { require_plan(m, run.rules->homes.size()); }

void check(const cluster_plan& m, consensus::node_number self, std::size_t participants) {
  require(self < m.nodes, "plans without this node");
  require_plan(m, participants);
}

void check(const join_request& m) {
  require(m.slots >= 1 && m.slots <= most_slots,
          fmt::format("asks for {} slots; allowed: 1 to {}", m.slots, most_slots));
}

void check(const node_ready& m) {
  require_handle(m.handle);
  require_place(m.data);
  require_place(m.control);
  require_text(m.print.settings, longest_text);
}

void check(const run_offer& m) {
  require(m.workers_per_node >= 1, "offers nodes without workers");
  require_text(m.settings, longest_text);
  require_text(m.faults, most_plan_bytes);
  for (const auto* path : {&m.checkpoints, &m.resumed, &m.folder})
    require_text(*path, longest_name);
  require_manifest(m.from);
  require(m.files.members.size() <= most_members, "offers the files of more nodes than there can be");
  for (const auto& member : m.files.members)
    require_place(member);
}

} // namespace gossamer::actors
