// How a worker lives through changes of view: peer lost, peer back, view changed, round repeated.
#include "gossamer/actors/worker/hosted_worker.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

/// Vectors that were read from bytes go where the worker's others are.
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

/// A frame of a step comes from the members of the view in force at that step, unless they have been lost since.
bool worker::expects(rank from, const tag& label) const {
  if (label.view != 0 && label.view < present().number)
    return false;
  const auto& then = view_of(label.step);
  return then.contains(from) && then.incarnations[from] == views_.back()->incarnations[from];
}

void hosted_worker::adopt(std::shared_ptr<const view> next) {
  if (settings_.witness)
    settings_.witness->adopts(id(), *next);
  inherit_residuals(*next);
  std::erase_if(views_, [&](const auto& v) { return v != views_.front() && v->first_step >= next->first_step; });
  const auto before = views_.empty() ? next : views_.back();
  const bool lacks_state = next->donors.contains(id()) && !(ready_ && next_exchange() >= next->first_step);
  views_.push_back(std::move(next));
  // What the dead sent for steps that their successors will do as well must not be taken for theirs.
  inbox_.discard([this](const frame& f) { return view_of(f.label.step).incarnations[f.source] != f.incarnation; });
  const bool begins_anew = !ready_ && !views_.back()->donors.contains(id());
  if (begins_anew)
    go_on_from_own_state();
  if (lacks_state)
    await_state();
  else
    enter_views();
  if (ready_ && next_exchange() >= views_.back()->first_step)
    donate(*views_.back()); // the steps up to the view exchange nothing, so whoever gets the state can do them as well
  inbox_.give_up([&](const auto& r) {
    return r.from() && (!expects(*r.from(), r.label()) || begins_another_life(*r.from(), *before));
  });
  if (begins_anew)
    spawn(algorithm_->run(*this));
  change_.notify();
  pass_cut(); // an exchange with the lost is over
}

/// Whether an asynchronous peer owes nothing any more that it owed under the view before. (Of synchronous ones the
/// steps say which life is meant.)
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

/// Those of the last view whose samples count by the present step. Who has just come has only known this view.
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

/// A synchronous worker receives what was sent in a step within that step or at the beginning of the next one. What is
/// older would stay for ever. As long as nobody has been lost it was sent by an algorithm that does not receive what it
/// sends; later it may also be of a round that was done again, or have come too late for one that went on without it.
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
  return fields.bytes();
}

void worker::restore(std::span<const std::byte> state) {
  archive_reader fields{state, settings_.packing.pool};
  algorithm_->fields(fields);
  optimiser_->fields(fields);
  fields(encodings_);
  fields.finish();
  placement place{*settings_.packing.coder};
  algorithm_->fields(place);
  optimiser_->fields(place);
}

/// A founder; a master whose process lives; or a worker that was left out, or a round behind others, which were all
/// lost. A master that died before anybody had seen what it did begins as a founder does.
void worker::go_on_from_own_state() {
  ready_ = true;
  if (std::exchange(behind_, false))
    return;
  const auto& place = settings_.place;
  const auto& own = place.saved ? place.saved : place.learnt;
  if (own && !own->empty())
    restore(*own);
  else if (!own && place.incarnation > 0)
    throw error(errc::failed, "the state of rank " + std::to_string(id()) + " has been lost",
                "--resume goes on from a checkpoint");
}

void worker::await_state() {
  behind_ |= std::exchange(ready_, false);
  state_of_view_ = views_.back()->number;
  inbox_.forget_waits(); // while the coroutines that hold them still exist
  routines_.clear();
  services_.clear();
  discard_frames_before(views_.back()->number); // the others may be there already
  gate_.forget();
  at_gate_ = false;
  change_.forget();
  gradient_signal_.forget();
  gradient_under_way_.reset();
  gradient_ready_ = false;
}

/// A master's state has died with its process: it makes another from what a worker remembers, and keeps that.
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

/// The model of the former life of this worker, if that was cut off. Empty: it was not.
vec worker::take_learnt() {
  const auto state = std::exchange(settings_.place.learnt, nullptr);
  if (!state)
    return {};
  restore(*state);
  return model();
}

void worker::take_state(frame f) {
  if (held_ || views_.empty() || f.label.view > views_.back()->number) {
    if (!early_state_ || early_state_->label.view < f.label.view)
      early_state_ = std::move(f);
    return;
  }
  if (ready_ || f.label.view != state_of_view_)
    return; // of a donor that has been replaced, or for this worker's former life
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
  if (settings_.training.synchronous) // its donor has received the like
    inbox_.discard([this](const frame& early) { return early.label.step < step_; });
  advance_views();
  host_.joined(step_);
  spawn(algorithm_->run(*this));
}

// -- who leaves -------------------------------------------------------------------------------------------------------

/// When this worker stands where it shall pause, and what it gives is on its way, or what it gets is here.
void worker::pause_when_due() {
  if (!at_gate_ || held_ || paused_ || !ready_ || step_ >= limit_ || !pauses_before(step_))
    return;
  const auto own = algorithm_->residual();
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

/// It may come before this worker hears that its sender leaves.
void worker::take_residual(frame f) {
  residuals_[f.source] = std::move(f);
  pause_when_due();
}

/// Of those who have left. Who is there still has its own: something has come in between, and it will try again.
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
