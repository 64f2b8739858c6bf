#include "gossamer/actors/simulation/auditor.hpp"

#include "gossamer/actors/frames/label_text.hpp"
#include "gossamer/actors/worker/name_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

constexpr double rounding = 1e-5;             // of sums of single precision numbers, relative
constexpr std::size_t most_open_claims = 256; // claims of lost workers stay incomplete

/// Drops the claim of the oldest step: an open claim is settled within a few steps or never.
template <class Map>
void keep_few(Map& open) {
  if (open.size() > most_open_claims)
    open.erase(open.begin());
}

/// True if the graph leads from each island to each other.
bool connected(const view& v, const topology::islands& islands) {
  std::vector<std::size_t> leads_to(v.incarnations.size());
  std::iota(leads_to.begin(), leads_to.end(), std::size_t{0});
  const auto root = [&](std::size_t island) {
    while (leads_to[island] != island)
      island = leads_to[island] = leads_to[leads_to[island]];
    return island;
  };
  for (const auto i : v.members)
    for (const auto j : v.mixing->neighbours(i))
      leads_to[root(islands.of(i))] = root(islands.of(j));
  const auto first = root(islands.of(v.members.front()));
  return std::ranges::all_of(v.members, [&](rank i) { return root(islands.of(i)) == first; });
}

/// True if two nodes have made the same view.
bool alike(const view& a, const view& b) {
  if (a.mixing != b.mixing)
    for (rank i = 0; i < a.mixing->size(); ++i)
      if (!std::ranges::equal(a.mixing->neighbours(i), b.mixing->neighbours(i))
          || !std::ranges::equal(a.mixing->weights(i), b.mixing->weights(i)))
        return false;
  return a.first_step == b.first_step && a.updates_ahead == b.updates_ahead && a.members == b.members
         && a.incarnations == b.incarnations && a.active == b.active && a.donors == b.donors;
}

} // namespace

auditor::auditor(std::size_t workers, bool bipartite, step_limit beside, std::size_t masters, topology::islands islands)
    : first_master_(workers), bipartite_(bipartite), beside_(std::move(beside)), islands_(std::move(islands)),
      workers_(workers + masters) {}

void auditor::complain(std::string what) {
  if (!broken_)
    broken_ = std::move(what);
}

void auditor::begins(rank who, std::uint32_t incarnation) {
  workers_[who] = {};
  workers_[who].alive = true;
  workers_[who].incarnation = incarnation;
}

void auditor::ends(rank who, std::uint32_t incarnation) {
  if (!lives(who, incarnation))
    return;
  workers_[who].alive = false;
  for (auto& [what, claims] : equal_) // the others need not agree with a state that it alone had reached
    claims.erase(who);
  std::erase_if(halves_, [&](const auto& entry) { return !both_live(entry.first); });
}

// -- frames -----------------------------------------------------------------------------------------------------------

void auditor::carried(const frame& f, bool crosses) { workers_[f.source].carried.count(f, crosses); }

void auditor::delivered(rank who, const frame& f) {
  auto& [incarnation, last] = workers_[who].received[f.source];
  if (f.incarnation != incarnation)
    last = 0;
  incarnation = f.incarnation;
  if (f.sequence != last + 1)
    complain(fmt::format("{} got frame {} of {} ({}, step {}{}) after frame {}: {}", name_of(who, first_master_),
                         f.sequence, name_of(f.source, first_master_), kind_text(f.label.kind), f.label.step,
                         part_text(f.label), last,
                         f.sequence <= last ? "it came twice or out of order" : "one in between is missing"));
  last = f.sequence;
  const auto given = handed_over_.find(f.source);
  if (f.label.kind == frame_kind::residual && given != handed_over_.end() && given->second.heir == who
      && is_member(f.source))
    given->second.arrived_before = f.label.step;
}

void auditor::dropped_stale(rank who, const frame& f, std::uint64_t t) {
  complain(fmt::format("{} begins step {} and has never received the {} of step {}{} from {}",
                       name_of(who, first_master_), t, kind_text(f.label.kind), f.label.step, part_text(f.label),
                       name_of(f.source, first_master_)));
}

void auditor::reports(rank who, const traffic& ledger) {
  const auto& carried = workers_[who].carried;
  if (ledger != carried)
    complain(fmt::format("the ledger of {} has {} frames and {} bits, {} of them between islands, but its links have "
                         "carried {} frames and {} bits, {} of them between islands",
                         name_of(who, first_master_), ledger.frames, ledger.wire_bits, ledger.bits_between_islands,
                         carried.frames, carried.wire_bits, carried.bits_between_islands));
}

// -- views and steps --------------------------------------------------------------------------------------------------

void auditor::adopts(rank who, const view& v) {
  std::erase_if(handed_over_, [&](const auto& one) { // a worker of the view goes on, and still has its own residual
    return one.second.heir == who && v.contains(one.first);
  });
  const auto [known, is_new] = views_.try_emplace(v.number, v);
  if (!is_new && !alike(known->second, v))
    complain(fmt::format("worker {} has another view {} than the others", who, v.number));
  if (is_new)
    check(v);
  if (is_new && v.number == views_.rbegin()->first)
    leave_out_others(v);
}

/// Ends the workers that a view leaves out. They may live on in a process that is cut off, but their actions there bind
/// no other worker.
void auditor::leave_out_others(const view& v) {
  for (rank i = 0; i < v.incarnations.size(); ++i)
    if (!v.contains(i) || v.incarnations[i] != workers_[i].incarnation)
      ends(i, workers_[i].incarnation);
}

void auditor::resolves(std::uint32_t node, const consensus::resolution& r) {
  const auto [known, is_new] = resolutions_.try_emplace(r.number(), r);
  if (!is_new && !(known->second == r))
    complain(fmt::format("node {} goes by another resolution {} than the others", node, r.number()));
}

void auditor::counts(const evaluation_record& r) {
  if (r.step < counted_.step || r.epoch < counted_.epoch || r.payload_bits < counted_.payload_bits)
    complain(fmt::format("{} gradients, {:.6g} epochs and {} bits are reported after {}, {:.6g} and {}", r.step,
                         r.epoch, r.payload_bits, counted_.step, counted_.epoch, counted_.payload_bits));
  counted_ = r;
}

void auditor::check(const view& v) {
  if (!connected(v, islands_))
    complain(fmt::format("the graph of view {} is not connected", v.number));
  for (const auto i : v.members) {
    double row = static_cast<double>(v.mixing->self_weight(i));
    for (const auto j : v.mixing->neighbours(i)) {
      const auto weight = v.mixing->weight(i, j);
      row += static_cast<double>(weight);
      if (weight < 0 || weight != v.mixing->weight(j, i))
        complain(fmt::format("view {} mixes {} and {} with weights {} and {}", v.number, i, j, weight,
                             v.mixing->weight(j, i)));
      if (!v.contains(j) || (bipartite_ && v.active[i] == v.active[j]))
        complain(fmt::format("view {} joins {} and {}, which must not be neighbours", v.number, i, j));
    }
    if (std::abs(row - 1) > rounding)
      complain(fmt::format("the weights of worker {} in view {} sum to {}", i, v.number, row));
  }
}

void auditor::step_begins(rank who, std::uint64_t t, const view& v) {
  workers_[who].step = t;
  std::erase_if(handed_over_, [&](const auto& one) { // they had paused, and the leaving worker stays after all
    const auto& [from, given] = one;
    return from == who || (given.heir == who && given.arrived_before.value_or(t + 1) <= t && is_member(from));
  });
  if (!workers_[who].alive || !beside_ || t <= v.first_step) // before the view, they need not have been neighbours
    return;
  for (const auto j : v.mixing->neighbours(who)) {
    const auto& theirs = workers_[j];
    if (theirs.alive && theirs.incarnation == v.incarnations[j] && theirs.step && t > beside_(*theirs.step))
      complain(fmt::format("worker {} begins step {} while its neighbour {} is in step {}", who, t, j, *theirs.step));
  }
}

// -- claims -----------------------------------------------------------------------------------------------------------

void auditor::claims_equal(rank who, std::string_view what, std::uint64_t step, const vec& v) {
  if (!workers_[who].alive)
    return;
  const auto hash = XXH3_64bits(v.data(), v.storage().size());
  auto& claims = equal_[{step, 0, std::string{what}}];
  claims.insert_or_assign(who, hash);
  const auto& [other, theirs] =
      claims.begin()->first == who ? *claims.rbegin() : *claims.begin(); // the earlier ones are equal
  if (theirs != hash)
    complain(fmt::format("workers {} and {} differ in {} of step {}", other, who, what, step));
  keep_few(equal_);
}

void auditor::claims_conserved(rank who, std::string_view what, std::uint64_t step, const view& v, const vec& before,
                               const vec& after) {
  const claim key{step, v.number, std::string{what}};
  auto& sum = balances_[key];
  sum.from.insert(who);
  sum.difference.resize(before.size());
  const auto old = before.view(), now = after.view();
  for (std::size_t k = 0; k < old.size(); ++k)
    sum.difference[k] += static_cast<double>(now[k]) - static_cast<double>(old[k]);
  sum.magnitude = std::max(sum.magnitude, static_cast<double>(max_magnitude(old)));
  if (sum.from.size() == v.members.size()) {
    const auto members = static_cast<double>(v.members.size());
    for (std::size_t k = 0; k < sum.difference.size(); ++k)
      if (!(std::abs(sum.difference[k]) <= rounding * members * sum.magnitude))
        complain(fmt::format("{} changed by {} in element {} of step {}, though it is conserved", what,
                             sum.difference[k], k, step));
    balances_.erase(key);
  }
  keep_few(balances_);
}

bool auditor::both_live(const exchange& e) const {
  const auto& [asker, asker_incarnation, answerer, answerer_incarnation, number] = e;
  return lives(asker, asker_incarnation) && (is_master(answerer) || lives(answerer, answerer_incarnation));
}

void auditor::hands_over(rank who, rank heir, const vec& residual) {
  handed_over_[who] = {heir, workers_[heir].incarnation, residual, std::nullopt};
}

void auditor::takes_over(rank who, rank from, const vec& residual, const vec& before, const vec& after) {
  const auto given = handed_over_.find(from);
  if (given == handed_over_.end() || given->second.heir != who
      || !std::ranges::equal(given->second.residual.view(), residual.view()))
    return complain(fmt::format("worker {} takes over from worker {} what that one has not handed over", who, from));
  handed_over_.erase(given);
  for (std::size_t k = 0; k < after.size(); ++k)
    if (after.view()[k] != before.view()[k] + residual.view()[k])
      return complain(fmt::format("worker {} does not add what worker {} had kept back to its own", who, from));
}

void auditor::recalls(rank who) {
  forgotten_[who] = applied_[who];
  std::erase_if(halves_, [who](const auto& entry) { return entry.second.by == who; });
}

void auditor::claims_opposite(rank who, const exchange_half& half, const vec& delta) {
  const exchange key{half.asker, half.asker_incarnation, half.answerer, half.answerer_incarnation, half.number};
  if (!both_live(key))
    return; // the other half is gone with its worker
  if (is_master(half.answerer)) {
    const std::pair asker{half.asker, half.asker_incarnation};
    if (half.number <= forgotten_[half.answerer][asker])
      return; // or with its master's state
    if (who == half.answerer)
      applied_[who][asker] = half.number;
  }
  const auto other = halves_.find(key);
  if (other == halves_.end()) {
    halves_.emplace(key, half_done{who, delta, half.atomic, workers_[who].last_saved()});
    return;
  }
  const auto about = fmt::format("exchange {} between {} and {}", half.number, half.asker, half.answerer);
  if (other->second.by == who)
    complain(fmt::format("worker {} applied its half of {} twice", who, about));
  else if (!std::ranges::equal(delta.view(), other->second.delta.view(), {}, {}, std::negate{}))
    complain(fmt::format("{} changed the sum of their models", about));
  // A worker that has come back may have missed checkpoints of the others.
  else if ((half.atomic || other->second.atomic) && half.asker_incarnation + half.answerer_incarnation == 0)
    lie_within_cuts(other->second, who, about);
  halves_.erase(other);
}

/// Notes in which checkpoints an exchange would be with one half only: those that one worker saved before its half, and
/// the other after its own, or not yet. A worker may still leave them out, since they have been given up.
void auditor::lie_within_cuts(const half_done& first, rank who, const std::string& about) {
  const auto here = workers_[who].last_saved();
  const auto [before, behind] = first.saved < here ? std::pair{first.by, who} : std::pair{who, first.by};
  const auto& saved = workers_[behind].saved;
  const auto end = saved.upper_bound(std::max(first.saved, here));
  for (auto number = saved.upper_bound(std::min(first.saved, here)); number != end; ++number)
    if (workers_[before].saved.contains(*number))
      tear(*number, about);
    else
      workers_[before].halved.try_emplace(*number, about);
}

void auditor::saves(rank who, std::uint64_t number) {
  auto& halved = workers_[who].halved;
  workers_[who].saved.insert(number);
  if (const auto found = halved.find(number); found != halved.end())
    tear(number, found->second);
  halved.erase(halved.begin(), halved.upper_bound(number));
}

void auditor::tear(std::uint64_t checkpoint, const std::string& about) {
  const auto& what = torn_.try_emplace(checkpoint, about).first->second;
  if (whole_.contains(checkpoint))
    complain(fmt::format("checkpoint {} has one half of {} only", checkpoint, what));
}

void auditor::completes(std::uint64_t number) {
  whole_.insert(number);
  if (const auto found = torn_.find(number); found != torn_.end())
    tear(number, found->second);
}

void auditor::check_halves() {
  for (const auto& [key, half] : halves_)
    complain(fmt::format("exchange {} between {} and {} is half applied: only worker {} did its half", std::get<4>(key),
                         std::get<0>(key), std::get<2>(key), half.by));
  for (const auto& [who, given] : handed_over_) // what has not arrived is lost with a worker that dies or is cut off
    if (given.arrived_before && !is_member(who) && lives(given.heir, given.heir_incarnation))
      complain(fmt::format("worker {} has left, and what it had kept back is lost: worker {} has not taken it over",
                           who, given.heir));
}

} // namespace gossamer::actors
