#include "gossamer/actors/worker/hosted_worker.hpp"
#include "gossamer/actors/worker/name_of.hpp"
#include "gossamer/base/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

worker::worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host)
    : settings_(std::move(settings)), optimiser_(std::move(optimiser)), host_(host),
      quantise_(random(purpose::quantise)), inbox_(settings_.place.id, settings_.witness),
      ready_(settings_.place.everybody != nullptr), gradients_(settings_.place.gradients),
      limit_(settings_.training.step_limit) {
  if (!settings_.training.synchronous)
    updates_ = static_cast<std::uint64_t>(settings_.training.updates_ahead);
  if (ready_)
    views_.push_back(settings_.place.everybody);
  if (settings_.witness)
    settings_.witness->begins(id(), settings_.place.incarnation);
}

worker::~worker() {
  if (settings_.witness)
    settings_.witness->ends(id(), settings_.place.incarnation);
}

rank worker::master(std::size_t k) const {
  if (k >= masters())
    throw error(errc::usage,
                fmt::format("{} names master {}, and the run has {}", name_of(id(), ranks()), k,
                            masters() == 0 ? "none" : fmt::format("{}, which count from 0", masters())),
                "`masters` of the algorithm's entry returns their number");
  return static_cast<rank>(ranks() + k);
}

namespace {

double epoch_after(std::uint64_t updates, const worker_training& training) {
  return static_cast<double>(updates) / training.updates_per_epoch + training.epochs_ahead;
}

/// The epoch in which the members of this view, all of them, begin a step.
double epoch_of_all(const view& v, std::uint64_t step, const worker_training& training) {
  const auto updates = static_cast<std::int64_t>(step * v.members.size()) + v.updates_ahead + training.updates_ahead;
  return epoch_after(static_cast<std::uint64_t>(std::max<std::int64_t>(updates, 0)), training);
}

} // namespace

double worker::epoch(std::uint64_t t) const {
  const auto& training = settings_.training;
  return training.synchronous ? epoch_of_all(view_of(t), t, training) : epoch_after(std::max(t, updates_), training);
}

float worker::learning_rate(std::uint64_t t) const {
  return static_cast<float>(settings_.training.lr
                            * settings_.training.schedule->factor(epoch(t), settings_.training.planned_epochs));
}

error worker::diverged(const std::string& sign) const {
  return {errc::diverged,
          fmt::format("training diverged at {}, step {}, epoch {:.3g}: {}", name_of(id(), ranks()), gradients_,
                      epoch(gradients_), sign),
          exact_codec() ? "lower the learning rate, or clip gradients"
                        : "lower the learning rate, or clip gradients, or try a finer codec"};
}

// -- gradients --------------------------------------------------------------------------------------------------------

worker::pending_gradient worker::start(gradient_job job) {
  GOSSAMER_ASSERT(!gradient_under_way_, "a worker has one gradient under way at a time");
  gradient_under_way_ = job.step;
  gradient_began_ = host_.now();
  job.shards = shards();
  if (settings_.training.model && settings_.training.model->computes_elsewhere()) {
    job.present = views_.front();
    job.epoch = epoch(job.step);
  }
  host_.compute(std::move(job));
  return pending_gradient{*this};
}

worker::pending_gradient worker::start_gradient(const vec& x, std::uint64_t t) { return start({.step = t, .x = x}); }

worker::pending_gradient worker::start_difference(const vec& x, const vec& anchor, std::uint64_t t) {
  return start({.step = t, .x = x, .what = gradient_job::kind::difference, .anchor = anchor});
}

worker::pending_gradient worker::start_full_part(const vec& x, std::uint32_t part, std::uint32_t parts,
                                                 std::uint64_t t) {
  return start({.step = t, .x = x, .what = gradient_job::kind::full_part, .part = part, .parts = parts});
}

void worker::step(compute::optimiser& o, vec& x, const vec& gradient, std::uint64_t t, const vec& at) const {
  if (!x.remote())
    x = settings_.packing.coder->place(x); // an algorithm may have moved it to the host
  o.step_at(at, x, gradient, learning_rate(t));
  prox(x, t);
}

vec worker::updated(vec x, const vec& gradient, std::uint64_t t) const {
  const auto spare = optimiser_->clone();
  step(*spare, x, gradient, t, x);
  return x;
}

vec worker::direction(const vec& x, const vec& gradient, std::uint64_t t) {
  auto u = direction(x, gradient);
  u *= learning_rate(t);
  return u;
}

// -- messages ---------------------------------------------------------------------------------------------------------

packet worker::encode(const compress::codec& c, const vec& v, const random_stream& random, std::uint64_t step) const {
  const auto encoded = [&] {
    const metered unmetered{nullptr}; // the cost of a codec includes all of its parts
    return settings_.packing.coder->encode(c, v, random, step);
  };
  try {
    auto p = encoded();
    count_encoding(p.codec, p.elements);
    return p;
  } catch (const error& e) {
    if (e.code() == errc::diverged)
      throw diverged(e.sentence());
    throw;
  }
}

packet worker::encode_exactly(const vec& v) const {
  static const auto identity = compress::make_codec("identity");
  return encode(*identity, v, quantise_, 0); // the identity codec draws no numbers
}

void worker::before_decoding(const packet& p, std::size_t size) const {
  if (p.elements != size)
    throw error(errc::bad_packet, fmt::format("{} received a vector of {} elements where {} were expected",
                                              name_of(id(), ranks()), p.elements, size));
  count_decoding(p.codec, p.elements);
}

vec worker::mean(std::span<const packet> packets, std::size_t size) const {
  for (const auto& p : packets)
    before_decoding(p, size);
  return settings_.packing.coder->mean(packets);
}

vec worker::decode(const packet& p, std::size_t size) const {
  before_decoding(p, size);
  const metered unmetered{nullptr};
  return settings_.packing.coder->decode(p);
}

void worker::decode_into(std::span<float> to, const packet& p) const {
  before_decoding(p, to.size());
  const metered unmetered{nullptr};
  settings_.packing.coder->decode_into(to, p);
}

void worker::send(rank to, tag label, packet body) {
  if (!is_known(label.kind)) // another process would refuse it
    throw error(errc::usage,
                fmt::format("frames of a program have kinds {} to 255, not {}", static_cast<unsigned>(first_own_kind),
                            static_cast<unsigned>(label.kind)),
                "others are Gossamer's, or may be one day");
  if (!expects(to, label)) // a peer that will not answer does not listen either
    return;
  tell_of_cut(to);
  host_.send(to, {.source = id(), .incarnation = settings_.place.incarnation, .label = label, .body = std::move(body)});
}

/// Sends in the order of ranks, beginning behind this worker's own: if all began with the lowest rank, it would receive
/// from all sides at once, and the others nothing.
void worker::send_to_neighbours(tag label, const packet& body) {
  const auto all = neighbours();
  const auto behind = static_cast<std::size_t>(std::ranges::upper_bound(all, id()) - all.begin());
  for (std::size_t k = 0; k < all.size(); ++k)
    send(all[(behind + k) % all.size()], label, body);
}

task<> worker::room(rank to) {
  while (is_present(to) && !over() && !has_room(to))
    co_await more_room_.wait();
}

traffic worker::sent() const {
  auto all = settings_.place.sent;
  all += host_.sent();
  all.averaged += averaged_;
  return all;
}

// -- checkpoints ------------------------------------------------------------------------------------------------------

/// Peers whose exchanges with this worker of an asynchronous run may wait for its marker.
std::vector<rank> worker::cut_peers() const {
  if (masters() == 0 && settings_.training.exchange != exchange_pattern::all)
    return {neighbours().begin(), neighbours().end()};
  const bool with_masters = masters() > 0 && id() < ranks();
  std::vector<rank> result;
  for (std::size_t k = 0; k < (with_masters ? masters() : ranks()); ++k)
    if (const auto peer = with_masters ? master(k) : static_cast<rank>(k); peer != id())
      result.push_back(peer);
  return result;
}

/// Saves the state if it is due. Call it whenever all coroutines wait again.
void worker::pass_cut() {
  if (!has_state() || !cut_.is_due())
    return;
  if (settings_.witness)
    settings_.witness->saves(id(), cut_.due());
  host_.checkpoint(cut_.due());
  auto waited = cut_.saved();
  for (const auto i : cut_peers())
    if (is_present(i))
      tell_of_cut(i);
  hand_in(std::move(waited));
  cut_passed_.notify();
}

void worker::tell_of_cut(rank peer) {
  if (const auto number = cut_.news_for(peer))
    host_.send(peer, {.source = id(),
                      .incarnation = settings_.place.incarnation,
                      .label = {frame_kind::checkpoint, *number},
                      .body = {}});
}

void worker::hand_in(frame f) {
  if (inbox_.awaits(f))
    cut_.answered({f.source, f.label.step});
  inbox_.deliver(std::move(f));
}

/// Hands in frames that have waited for a checkpoint, unless their sender has been lost meanwhile.
void worker::hand_in(std::vector<frame> waited) {
  for (auto& f : waited)
    if (life_of(f.source) == f.incarnation)
      hand_in(std::move(f));
}

// -- coroutines and steps ---------------------------------------------------------------------------------------------

void worker::spawn(task<> routine) {
  routines_.push_back(std::move(routine));
  routines_.back().start();
}

void worker::begin_routine() {
  begun_.reset();
  if (id() >= ranks() && settings_.place.incarnation > 0)
    expect_repeated_questions();
  spawn(algorithm_->run(*this));
}

void worker::expect_repeated_questions() {
  std::set<rank> workers;
  for (rank i = 0; i < ranks(); ++i)
    if (is_present(i))
      workers.insert(i);
  cut_.expect_word_of(std::move(workers));
}

void worker::serve(task<> routine) {
  std::erase_if(services_, [](task<>& one) {
    if (one.done())
      one.check();
    return one.done();
  });
  services_.push_back(std::move(routine));
  services_.back().start();
}

task<> worker::pause(double seconds) {
  const auto lasts =
      std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::duration<double>{std::clamp(seconds, 0.0, 1e9)});
  const auto until = host_.now() + lasts;
  if (settings_.witness)
    settings_.witness->pauses(id(), lasts);
  if (lasts.count() > 0)
    host_.wake_at(until); // once: ends of other pauses and changes that all workers make together wake this one, too
  while (!over() && host_.now() < until)
    co_await time_passed_.wait();
}

void worker::reach(std::uint64_t t) {
  at_gate_ = false;
  enter_views();
  drop_stale_frames();
  if (t < limit_)
    begin_step(t);
}

/// Finds a routine that would stay in its step for ever. One that pushes before it leaves comes back to its step if it
/// stays after all.
void worker::count_beginning(std::uint64_t t) {
  if (begun_ && t <= *begun_)
    throw error(errc::usage, fmt::format("{} begins step {} after step {}", name_of(id(), ranks()), t, *begun_),
                "count the steps: for (; co_await w.next_step(t_); ++t_)");
  begun_ = owes_ && is_leaving() ? std::nullopt : std::optional{t};
}

void worker::begin_step(std::uint64_t t) {
  count_beginning(t);
  if (settings_.witness)
    settings_.witness->step_begins(id(), t, present());
  const auto& training = settings_.training;
  // Near the planned end, where the final evaluation follows anyway. All workers must find the same: neither the
  // present limit tells, which moves where the run is interrupted, nor a view that begins later.
  const auto is_near_the_end = [&] {
    return epoch_of_all(view_of(t), t + training.evaluation_steps / 2, training) >= training.planned_epochs;
  };
  if (training.synchronous && training.evaluation_steps != 0 && t % training.evaluation_steps == 0
      && !is_near_the_end())
    take_snapshot(t);
  if (t != 0 && t == save_at_)
    host_.checkpoint(t);
}

void worker::take_snapshot(std::uint64_t evaluation) {
  host_.report(snapshot{id(), settings_.place.incarnation, evaluation, gradients_, on_host(model()), sent()});
}

void worker::expect_repeated_rounds(std::string_view collective) const {
  if (settings_.training.synchronous && settings_.training.on_loss != interrupted_round::repeat)
    throw error(errc::usage,
                fmt::format("{} repeats a round from which a worker is lost, and the algorithm's trait `on_loss` says "
                            "that such rounds are finished",
                            collective),
                "set .on_loss = interrupted_round::repeat in the traits of the algorithm's entry");
}

// -- claims -----------------------------------------------------------------------------------------------------------

void worker::claim_equal(std::string_view what, std::uint64_t step, const vec& v) const {
  if (settings_.witness)
    settings_.witness->claims_equal(id(), what, step, v);
}

void worker::claim_conserved(std::string_view what, std::uint64_t step, const vec& before, const vec& after) const {
  if (settings_.witness)
    settings_.witness->claims_conserved(id(), what, step, view_of(step), before, after);
}

void worker::claim_half(rank peer, bool asked, std::uint64_t number, const vec& delta, bool atomic) const {
  if (!settings_.witness)
    return;
  const auto lives = [this](rank i) { // a master's actions outlive it: it goes on from its saved state
    return i < settings_.place.ranks ? views_.back()->incarnations[i].value_or(0) : 0;
  };
  const auto mine = id() < settings_.place.ranks ? settings_.place.incarnation : 0;
  const exchange_half half = asked ? exchange_half{id(), peer, mine, lives(peer), number, atomic}
                                   : exchange_half{peer, id(), lives(peer), mine, number};
  settings_.witness->claims_opposite(id(), half, delta);
}

} // namespace gossamer::actors
