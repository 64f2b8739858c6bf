// A worker's changes of view: a peer is lost or comes back, the view changes, a round is repeated.
#include "gossamer/actors/worker/hosted_worker.hpp"
#include "gossamer/actors/worker/name_of.hpp"
#include "gossamer/base/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gossamer::actors {

namespace {

/// Moves vectors that were read from bytes to the device that holds the worker's others.
class placement final : public archive {
public:
  explicit placement(const compress::coder& where) : where_(where) {}

private:
  void visit(vec& field) override {
    if (!field.empty())
      field = where_.place(field);
  }
  void visit(std::uint64_t&) override {}
  void visit(double&) override {}

  const compress::coder& where_;
};

} // namespace

const view& worker::view_of(std::uint64_t step) const {
  auto found = views_.begin();
  while (std::next(found) != views_.end() && (*std::next(found))->first_step <= step)
    ++found;
  return **found;
}

/// Returns the rank of a worker or master, whether it is lost or not.
rank worker::checked(rank i) const {
  const auto ranks_and_masters = views_.back()->incarnations.size();
  if (i >= ranks_and_masters)
    throw error(errc::usage,
                fmt::format("{} names a peer of rank {}, and ranks are less than {} here", name_of(id(), ranks()), i,
                            ranks_and_masters),
                "ranks of workers come first; `master` returns those of masters");
  return i;
}

/// True if the peer is a member of the view in force at the frame's step, and has not been lost since.
bool worker::expects(rank from, const tag& label) const {
  if (label.view != 0 && label.view < present().number)
    return false;
  const auto& then = view_of(label.step);
  return then.contains(checked(from)) && then.incarnations[from] == views_.back()->incarnations[from];
}

/// True if an asynchronous peer has restarted: it owes nothing that it owed under the view before. (The steps of
/// synchronous peers tell their incarnations apart.)
bool worker::begins_another_life(rank i, const view& before) const {
  return !settings_.training.synchronous && before.contains(i)
         && before.incarnations[i] != views_.back()->incarnations[i];
}

/// @returns whether another view is in force now
bool worker::advance_views() {
  const auto before = views_.front();
  for (; views_.size() > 1 && views_[1]->first_step <= step_; views_.pop_front())
    if (views_.front()->sampled_from <= step_)
      sampled_ = views_.front();
  return views_.front() != before;
}

/// Returns the shards of the last view whose samples are in use at the present step. A worker that has just joined
/// knows only the present view.
const std::shared_ptr<const compute::redealt_shards>& worker::shards() {
  if (!sampled_ || views_.front()->sampled_from <= step_)
    sampled_ = views_.front();
  return sampled_->shards;
}

void worker::enter_views() {
  if (!advance_views())
    return;
  discard_frames_before(present().number);
  donate(present());
}

void worker::discard_frames_before(std::uint32_t view) {
  inbox_.discard([view](const frame& f) { return f.label.view != 0 && f.label.view < view; });
}

/// Drops frames of older steps than the last, which would stay for ever: a synchronous worker receives a step's frames
/// within that step or at the beginning of the next one. Before the first loss such a frame is the fault of an
/// algorithm that does not receive what it sends. Later it may also belong to a repeated round, or have come too late
/// for a round that went on without it.
void worker::drop_stale_frames() {
  if (!settings_.training.synchronous)
    return; // frames are numbered by exchanges and questions there
  inbox_.discard([this](const frame& f) {
    if (f.label.step + 1 >= step_)
      return false;
    if (views_.back()->number == 1) {
      ++stale_frames_;
      if (settings_.witness)
        settings_.witness->dropped_stale(id(), f, step_);
    }
    return true;
  });
}

void worker::donate(const view& v) {
  if (!ready_ || std::exchange(donated_of_view_, v.number) == v.number)
    return;
  for (const auto& [joiner, donor] : v.donors) {
    if (donor != id())
      continue;
    host_.send(joiner, {.source = id(),
                        .incarnation = settings_.place.incarnation,
                        .label = {frame_kind::state, step_, 0, v.number},
                        .body = compress::opaque(state_for(joiner), settings_.packing.pool)});
  }
}

std::vector<std::byte> worker::state_for(rank joiner) const {
  if (joiner < ranks())
    return state();
  auto known = algorithm_->remembers();
  archive_writer fields;
  fields(known.model)(known.version);
  return fields.bytes();
}

std::vector<std::byte> worker::state() const {
  archive_writer fields;
  algorithm_->fields(fields);
  optimiser_->fields(fields);
  auto encodings = encodings_;
  fields(encodings);
  if (const auto* beside = kept_beside()) {
    auto kept = beside->save();
    fields(kept);
  }
  return fields.bytes();
}

/// Null for masters, which compute no gradients.
const compute::model::kept_beside* worker::kept_beside() const {
  return id() < ranks() && settings_.training.model ? settings_.training.model->keeps() : nullptr;
}

void worker::restore(std::span<const std::byte> state) {
  archive_reader fields{state, settings_.packing.pool};
  algorithm_->fields(fields);
  optimiser_->fields(fields);
  fields(encodings_);
  if (const auto* beside = kept_beside()) {
    vec kept;
    fields(kept);
    beside->restore(kept);
  }
  fields.finish();
  placement place{*settings_.packing.coder};
  algorithm_->fields(place);
  optimiser_->fields(place);
}

/// Starts without a state from another worker: for a founder, a master whose process lives, or a worker that was left
/// out or was a round behind others which were all lost. A master that died before any worker had seen its actions
/// begins as a founder does.
void worker::go_on_from_own_state() {
  ready_ = true;
  if (std::exchange(behind_, false))
    return;
  auto& place = settings_.place;
  const auto own = std::exchange(place.saved ? place.saved : place.learnt, nullptr);
  if (own && !own->empty())
    restore(*own);
  else if (!own && place.incarnation > 0)
    throw error(errc::failed, "the state of rank " + std::to_string(id()) + " has been lost",
                "--resume goes on from a checkpoint");
}

void worker::await_state() {
  behind_ |= std::exchange(ready_, false);
  state_of_view_ = views_.back()->number;
  inbox_.forget_waits(); // while the waiting coroutines still exist
  routines_.clear();
  services_.clear();
  discard_frames_before(views_.back()->number); // frames of the new view may be there already
  gate_.forget();
  at_gate_ = false;
  cut_passed_.forget();
  gradient_signal_.forget();
  gradient_under_way_.reset();
  gradient_ready_ = false;
}

/// Makes a new state for a master from a worker's memory, and keeps it: the old state has died with its process.
void worker::recall(std::span<const std::byte> remembered) {
  remembered_model known;
  archive_reader fields{remembered, settings_.packing.pool};
  fields(known.model)(known.version);
  fields.finish();
  known.model = settings_.packing.coder->place(known.model);
  if (settings_.witness)
    settings_.witness->recalls(id());
  algorithm_->begin_from(*this, std::move(known));
  save();
}

/// Returns the model of this worker's earlier incarnation if that was cut off, else an empty vector.
vec worker::take_learnt() {
  const auto state = std::exchange(settings_.place.learnt, nullptr);
  if (!state)
    return {};
  restore(*state);
  return model();
}

void worker::take_state(frame f) {
  if (held_ || views_.empty() || f.label.view > views_.back()->number) {
    pass(mark::early_state);
    if (!early_state_ || early_state_->label.view < f.label.view)
      early_state_ = std::move(f);
    return;
  }
  if (ready_ || f.label.view != state_of_view_)
    return; // from a replaced donor, or for an earlier incarnation of this worker
  if (id() < ranks()) {
    const auto learnt = take_learnt();
    restore(f.body.payload.bytes());
    algorithm_->inherit(*this);
    if (!learnt.empty())
      algorithm_->reunite(learnt);
    step_ = f.label.step;
  } else {
    recall(f.body.payload.bytes());
  }
  ready_ = true;
  behind_ = false;
  if (settings_.training.synchronous) // the donor has received such frames already
    inbox_.discard([this](const frame& early) { return early.label.step < step_; });
  advance_views();
  host_.joined(step_);
  begin_routine();
}

// -- workers that leave -----------------------------------------------------------------------------------------------

/// Reports a pause once this worker stands at its gate, what it hands over is on its way, and what it gets is here.
void worker::pause_when_due() {
  if (!at_gate_ || held_ || paused_ || !ready_ || step_ >= limit_ || !pauses_before(step_))
    return;
  const auto own = algorithm_->handed_over(*this);
  if (!own.empty() && std::ranges::any_of(parting_.heirs, [this](const auto& one) {
        const auto found = residuals_.find(one.first);
        return one.second == id() && (found == residuals_.end() || found->second.label.step != parting_.at);
      }))
    return;
  paused_ = true;
  if (const auto heir = parting_.heirs.find(id()); heir != parting_.heirs.end() && !own.empty()) {
    if (settings_.witness)
      settings_.witness->hands_over(id(), heir->second, own);
    send(heir->second, {frame_kind::residual, parting_.at}, encode_exactly(own));
  }
  host_.paused();
}

/// Keeps a residual; it may come before the news that its sender leaves.
void worker::take_residual(frame f) {
  residuals_[f.source] = std::move(f);
  pause_when_due();
}

/// Adds the residuals of workers that have left. A sender that is still there keeps its own: its parting was
/// interrupted, and will be tried again.
void worker::inherit_residuals(const view& next) {
  for (const auto& [from, f] : std::exchange(residuals_, {})) {
    const auto heir = parting_.heirs.find(from);
    if (!ready_ || next.contains(from) || heir == parting_.heirs.end() || heir->second != id()
        || f.label.step != parting_.at)
      continue;
    const auto before = algorithm_->residual();
    const auto theirs = decode(f.body, before.size());
    algorithm_->take_over(theirs);
    if (settings_.witness)
      settings_.witness->takes_over(id(), from, theirs, before, algorithm_->residual());
  }
}

} // namespace gossamer::actors
