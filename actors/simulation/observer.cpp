#include "gossamer/actors/simulation/observer.hpp"

#include "gossamer/actors/frames/label_text.hpp"
#include "gossamer/actors/protocol/worker_activity.hpp"
#include "gossamer/actors/worker/name_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace gossamer::actors {

namespace {

constexpr std::size_t most_named = 12;

const char* verb_of(activity what) {
  static constexpr std::array verbs{"compute", "compress", "communicate", "wait"};
  return verbs[static_cast<std::size_t>(what)];
}

} // namespace

simulation_observer::simulation_observer(std::size_t workers, std::size_t masters, const virtual_time& now,
                                         const cost_meter& meter, auditor* check, trace_recorder* trace,
                                         run_observer* user)
    : now_(now), meter_(meter), check_(check), trace_(trace), user_(user), unsent_(workers + masters),
      steps_(workers + masters), sheets_(workers + masters), first_master_(static_cast<rank>(workers)) {
  if (trace_) // fixes the order of rows: faults on top, workers by rank
    for (rank i = 0; i < workers + masters; ++i)
      worker_track(i);
}

std::string simulation_observer::name_of(rank who) const { return actors::name_of(who, first_master_); }

/// The finaliser of splitmix64 (Steele, Lea, Flood 2014) over a running sum.
void simulation_observer::mix(std::uint64_t word) noexcept {
  hash_ += word + 0x9E3779B97F4A7C15u;
  hash_ = (hash_ ^ (hash_ >> 30)) * 0xBF58476D1CE4E5B9u;
  hash_ = (hash_ ^ (hash_ >> 27)) * 0x94D049BB133111EBu;
  hash_ ^= hash_ >> 31;
}

trace_track simulation_observer::worker_track(rank who) { return trace_->track("workers", name_of(who)); }

trace_track simulation_observer::link_track(rank from, rank to) {
  return trace_->track("links", fmt::format("{} -> {}", from, to));
}

/// More than a round of all workers with all, many times over.
std::uint64_t simulation_observer::most_frames_between_steps() const noexcept {
  return 1000 + 16 * sheets_.size() * sheets_.size();
}

// -- told by the world ------------------------------------------------------------------------------------------------

void simulation_observer::carries(const frame& f, bool crosses) {
  unsent_[f.source] = 0;
  if (check_)
    check_->carried(f, crosses);
}

void simulation_observer::flies(rank to, const frame& f, virtual_time sent, virtual_time received) {
  if (trace_)
    trace_->slice(link_track(f.source, to), trace_->name(label_text(f.label)), sent.count(), received.count(),
                  {{trace_->name("bytes"), static_cast<std::int64_t>(f.wire_bytes())}});
}

void simulation_observer::computes(rank who, std::uint64_t step, virtual_time begins, virtual_time ends) {
  sheets_[who].computes(ends - begins);
  if (trace_ && ends > begins)
    trace_->slice(trace_->track("compute", fmt::format("compute {}", who)), trace_->name("gradient"), begins.count(),
                  ends.count(), {{trace_->name("step"), static_cast<std::int64_t>(step)}});
}

void simulation_observer::computed(rank who, std::uint64_t step, double loss) {
  last_step_ = now_;
  last_progress_ = std::max(last_progress_, now_);
  frames_since_step_ = 0;
  ++unsent_[who];
  mix(static_cast<std::uint64_t>(now_.count()));
  mix(std::uint64_t{who} << 40 ^ step);
  mix(std::bit_cast<std::uint64_t>(loss));
}

void simulation_observer::works(rank who, std::span<const work_share> shares) {
  double end_ns = 0;
  auto began = now_;
  for (const auto& share : shares) {
    end_ns += share.ns;
    const auto ended = later(now_, from_seconds(1e-9 * end_ns));
    sheets_[who].works(share.what, ended - began);
    if (trace_ && ended > began)
      trace_->slice(trace_->track("work", name_of(who)), trace_->name(verb_of(share.what)), began.count(),
                    ended.count());
    began = ended;
  }
}

void simulation_observer::fault(const std::string& what, bool on) {
  if (on)
    faults_[what] = now_;
  else if (const auto begun = faults_.extract(what); trace_ && begun)
    trace_->slice(trace_->track("faults", what), trace_->name(what), begun.mapped().count(), now_.count());
  if (trace_ && on)
    trace_->instant(trace_->track("faults", what), trace_->name(what), now_.count());
}

std::string simulation_observer::who_waits() const {
  std::vector<std::string> waits, steps{"nobody waits for a frame"};
  for (rank i = 0; i < sheets_.size(); ++i) {
    steps.push_back(fmt::format("{} is in step {}", name_of(i), steps_[i]));
    for (const auto& w : sheets_[i].waits())
      waits.push_back(fmt::format("{} waits for {} of {}", name_of(i), label_text(w.wanted), name_of(w.whom)));
  }
  auto& named = waits.empty() ? steps : waits;
  if (named.size() > most_named) {
    const auto more = named.size() - most_named;
    named.resize(most_named);
    named.push_back(fmt::format("and {} more", more));
  }
  return fmt::format("{}", fmt::join(named, "; "));
}

blame_table simulation_observer::blame(virtual_time total) const {
  blame_table table{sheets_.size()};
  for (rank i = 0; i < sheets_.size(); ++i) {
    table.computed(i, sheets_[i].gradients().count());
    for (const auto& [whom, time] : sheets_[i].waited())
      table.waited(i, whom, time.count());
  }
  table.finish(total.count());
  return table;
}

std::vector<time_use> simulation_observer::time_used() const {
  std::vector<time_use> all;
  for (const auto& sheet : sheets_)
    all.push_back(sheet.used());
  return all;
}

// -- told by the leader -----------------------------------------------------------------------------------------------

void simulation_observer::on_progress(const progress_record& p) {
  if (user_)
    user_->on_progress(p);
}

void simulation_observer::on_evaluation(const evaluation_record& r) {
  if (check_ != nullptr)
    check_->counts(r);
  mix(std::bit_cast<std::uint64_t>(r.train_loss));
  if (trace_)
    trace_->counter(trace_->track("run", "training loss"), trace_->name("training loss"), now_.count(), r.train_loss);
  if (user_)
    user_->on_evaluation(r);
}

void simulation_observer::on_event(const event_record& r) {
  if (trace_)
    trace_->instant(trace_->track("run", "events"), trace_->name(r.what), now_.count());
  if (user_)
    user_->on_event(r);
}

void simulation_observer::on_view(const view_record& r) {
  if (user_)
    user_->on_view(r);
}

void simulation_observer::on_workers(workers_record r) {
  if (!user_)
    return;
  for (rank i = 0; i < sheets_.size(); ++i)
    add(r, activity_of(i, sheets_[i], now_));
  keep_largest(r);
  user_->on_workers(std::move(r));
}

// -- told by the workers ----------------------------------------------------------------------------------------------

void simulation_observer::begins(rank who, std::uint32_t incarnation) {
  if (check_)
    check_->begins(who, incarnation);
}

void simulation_observer::ends(rank who, std::uint32_t incarnation) {
  sheets_[who].give_up(now_);
  lost_ += std::exchange(unsent_[who], 0);
  if (check_)
    check_->ends(who, incarnation);
}

void simulation_observer::adopts(rank who, const view& v) {
  if (check_)
    check_->adopts(who, v);
  if (trace_)
    trace_->instant(worker_track(who), trace_->name(fmt::format("view {}", v.number)), now_.count());
}

void simulation_observer::reports(rank who, const traffic& ledger) {
  if (check_)
    check_->reports(who, ledger);
}

void simulation_observer::dropped_stale(rank who, const frame& f, std::uint64_t t) {
  if (check_)
    check_->dropped_stale(who, f, t);
}

void simulation_observer::wait_begins(rank who, rank whom, const tag& wanted) {
  sheets_[who].wait_begins(whom, wanted, later(now_, meter_.spent()), meter_.spent());
}

void simulation_observer::wait_ends(rank who, rank whom) {
  const auto since = sheets_[who].wait_ends(whom, now_);
  if (!since || !trace_)
    return;
  const auto until = std::max(now_, *since);
  trace_->slice(worker_track(who), trace_->name(fmt::format("waits for {}", whom)), since->count(), until.count());
  trace_->arrow(trace_->name("ends the wait"), link_track(whom, who), now_.count(), worker_track(who), until.count());
}

void simulation_observer::pauses(rank who, virtual_time lasts) {
  const auto begins = later(now_, meter_.spent()), ends = later(begins, lasts);
  if (++frames_since_step_ <= most_frames_between_steps())
    last_progress_ = std::max(last_progress_, ends); // nobody hangs meanwhile
  mix(static_cast<std::uint64_t>(begins.count()));
  mix(std::uint64_t{who} << 40 ^ static_cast<std::uint64_t>(lasts.count()));
  if (trace_)
    trace_->slice(worker_track(who), trace_->name("pauses"), begins.count(), ends.count());
}

void simulation_observer::step_begins(rank who, std::uint64_t t, const view& v) {
  steps_[who] = t;
  if (check_)
    check_->step_begins(who, t, v);
}

void simulation_observer::delivered(rank who, const frame& f) {
  if (++frames_since_step_ <= most_frames_between_steps())
    last_progress_ = std::max(last_progress_, now_);
  mix(static_cast<std::uint64_t>(now_.count()));
  mix(std::uint64_t{f.source} << 32 ^ who);
  mix(static_cast<std::uint64_t>(f.label.kind) << 56 ^ std::uint64_t{f.sequence} << 24 ^ f.label.step);
  if (check_)
    check_->delivered(who, f);
}

void simulation_observer::claims_equal(rank who, std::string_view what, std::uint64_t step, const vec& v) {
  const metered unmetered{nullptr}; // checking is no work of the worker
  if (check_)
    check_->claims_equal(who, what, step, v);
}

void simulation_observer::claims_conserved(rank who, std::string_view what, std::uint64_t step, const view& v,
                                           const vec& before, const vec& after) {
  const metered unmetered{nullptr};
  if (check_)
    check_->claims_conserved(who, what, step, v, before, after);
}

void simulation_observer::claims_opposite(rank who, const exchange_half& half, const vec& delta) {
  const metered unmetered{nullptr};
  if (check_)
    check_->claims_opposite(who, half, delta);
}

void simulation_observer::hands_over(rank who, rank heir, const vec& residual) {
  if (check_)
    check_->hands_over(who, heir, residual);
}

void simulation_observer::takes_over(rank who, rank from, const vec& residual, const vec& before, const vec& after) {
  if (check_)
    check_->takes_over(who, from, residual, before, after);
}

void simulation_observer::recalls(rank who) {
  if (check_)
    check_->recalls(who);
}

void simulation_observer::saves(rank who, std::uint64_t number) {
  if (check_)
    check_->saves(who, number);
}

} // namespace gossamer::actors
