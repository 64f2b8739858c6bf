#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/actors/worker/cut.hpp"
#include "gossamer/actors/worker/gradient_times.hpp"
#include "gossamer/actors/worker/inbox.hpp"
#include "gossamer/actors/worker/parting.hpp"
#include "gossamer/actors/worker/stream_of_life.hpp"
#include "gossamer/actors/worker/worker_host.hpp"
#include "gossamer/actors/worker/worker_settings.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <deque>
#include <span>

namespace gossamer::actors {

/// The rank in the key of random numbers that all workers share.
inline constexpr rank nobody = std::numeric_limits<rank>::max();

/// An algorithm's view of the world: its place among the workers, gradients, messages, and the end of training. The
/// host uses the `hosted_worker`.
///
/// All functions that wait return awaitables. Threads: confined to the actor that owns the worker.
class worker {
public:
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  rank id() const noexcept { return settings_.place.id; }
  random_stream random(purpose use) const noexcept {
    return stream_of_life({settings_.training.seed, settings_.place.id, use}, settings_.place.random_life);
  }
  /// The life of these numbers: 0 in synchronous runs, else another one than any worker of this rank and state had.
  std::uint32_t life_of_draws() const noexcept { return settings_.place.random_life; }
  /// The same numbers for all workers of the run.
  random_stream shared_random(purpose use) const noexcept { return {settings_.training.seed, nobody, use}; }

  // -- membership: may change whenever the coroutine is suspended -----------------------------------------------------

  /// The view in force.
  const view& present() const noexcept { return *views_.front(); }
  /// All workers that take part, this one included; ascending.
  std::span<const rank> members() const noexcept { return present().members; }
  std::span<const rank> neighbours() const { return present().mixing->neighbours(id()); }
  /// Entry W_ij of the mixing matrix, for this worker i and j itself or a neighbour.
  float mixing(rank j) const { return present().mixing->weight(id(), j); }
  /// True for workers that start exchanges, false for those that answer.
  bool active() const { return present().active[id()]; }
  /// True if this worker or master is not lost. @error errc::usage, of all that take a rank, if none may have it
  bool is_present(rank i) const { return life_of(i).has_value(); }
  /// The incarnation of this worker or master; absent if it is lost.
  std::optional<std::uint32_t> life_of(rank i) const { return views_.back()->incarnations[checked(i)]; }
  /// Number of workers at the start of the run.
  std::size_t workers() const noexcept { return settings_.place.workers; }
  /// Number of ranks for workers, taken or not; the ranks of masters follow.
  std::size_t ranks() const noexcept { return settings_.place.ranks; }
  std::size_t masters() const noexcept { return settings_.place.masters; }
  /// The islands that `--islands` names; collectives/island_mean.hpp has rounds within them.
  const topology::islands& islands() const noexcept { return settings_.place.islands; }
  rank master(std::size_t k) const; ///< @error errc::usage if there are not so many
  /// `co_await change()` until a worker or master is lost or comes back, or training is over.
  signal::waiter change() noexcept { return change_.wait(); }

  // -- progress -------------------------------------------------------------------------------------------------------

  class [[nodiscard]] step_gate;
  /// `co_await next_step(t)` returns true if step t may begin, false when training is over. Step t begins after t
  /// updates of x. Waits while more is under way to a peer than may be (`--under-way`), so that a worker that sends
  /// without waiting for answers cannot fill the memory.
  /// @param owes true while a master lacks what this worker has: one that leaves an asynchronous run passes, and
  ///        pushes that (`is_leaving`)
  step_gate next_step(std::uint64_t t, bool owes = false) noexcept;
  /// True once this worker is to leave the run.
  bool is_leaving() const { return parting_.heirs.contains(id()); }
  class [[nodiscard]] way_out;
  /// `co_await may_leave()` ends a worker that is to leave the run; others go on at once. For workers that obey a
  /// master: others leave at `next_step`.
  way_out may_leave() noexcept;
  /// True when training is over: no step begins any more.
  bool over() const noexcept { return limit_ == 0; }
  /// Lets `run` end in the middle of a step: by agreement of all workers, who end with the same one.
  void end_early() noexcept { ends_early_ = true; }
  std::size_t samples() const noexcept { return settings_.training.samples; }
  /// Number of samples in a minibatch.
  std::size_t batch() const noexcept { return settings_.training.batch; }
  /// `co_await pause(s)` waits s seconds, from 0 to 1e9, of the world's time, or until training is over. It is no part
  /// of a state: a worker or master that goes on from its state begins anew what was under way. Any number at a time.
  task<> pause(double seconds);
  /// Gradients of all workers together that touch every sample once.
  double updates_per_epoch() const noexcept { return settings_.training.updates_per_epoch; }
  /// Passes through the samples by all workers together: before step t in a synchronous run, otherwise as far as this
  /// worker has heard.
  double epoch(std::uint64_t t) const;
  /// gamma_t: the base rate times the schedule at the present progress.
  float learning_rate(std::uint64_t t) const;

  // -- gradients ------------------------------------------------------------------------------------------------------

  class [[nodiscard]] pending_gradient;
  /// Sends x to the compute actor and returns at once: `auto g = w.start_gradient(x, t); ...; co_await g`.
  /// One gradient may be under way at a time. Its minibatch comes from the worker's own samples: see view::shards.
  pending_gradient start_gradient(const vec& x, std::uint64_t t);
  /// The mean of grad f_a(x) - grad f_a(anchor) over a minibatch a. It is drawn from all samples, not from the worker's
  /// own: SVRG's estimator is unbiased only so.
  pending_gradient start_difference(const vec& x, const vec& anchor, std::uint64_t t);
  /// The sum of the gradients at x over part `part` of `parts` of all samples. Counts as no update.
  pending_gradient start_full_part(const vec& x, std::uint32_t part, std::uint32_t parts, std::uint64_t t);
  /// Seconds of the world's time that a gradient of this worker takes: the median of its last five, from the order to
  /// the answer; 0 before the first. In a simulation it is the cost model's time; no state has it.
  double gradient_seconds() const { return std::chrono::duration<double>{gradient_times_.median()}.count(); }
  /// x <- prox(x - gamma_t * u(g)): the optimiser's step (momentum and weight decay included), then the model's. Runs
  /// on the device of the gradients, wherever x was.
  void update(vec& x, const vec& gradient, std::uint64_t t) { update(x, gradient, t, x); }
  /// The same for a gradient taken at another point, to which its weight decay belongs.
  void update(vec& x, const vec& gradient, std::uint64_t t, const vec& at) { step(*optimiser_, x, gradient, t, at); }
  /// Returns the result of `update`, while x and the optimiser stay unchanged. Copies the optimiser's state.
  vec updated(vec x, const vec& gradient, std::uint64_t t) const;
  /// u(g) at x, for algorithms that average directions over steps before they scale them.
  vec direction(const vec& x, const vec& gradient) { return optimiser_->direction(x, gradient); }
  /// gamma_t * u(g): the change that `update` would subtract from x, for algorithms that compress it first. Call one of
  /// the three in a step, and `prox` where x has been moved without `update`.
  vec direction(const vec& x, const vec& gradient, std::uint64_t t);
  /// Ratio by which directions lead further than unrelated vectors in the long run: see compute::optimiser.
  double persistence() const { return optimiser_->persistence(); }
  /// Reports that a gradient has changed the model for which it was computed, `staleness` updates after that model was
  /// read. The holder of the model reports it: a master, or a worker for its own model. (In pairwise averaging the
  /// leader counts the updates of all workers in between.)
  void gradient_applied(std::uint64_t staleness) { host_.gradient_applied(staleness); }
  /// x <- prox_{c gamma_t h}(x), the model's proximal step, for a step size of c gamma_t.
  void prox(vec& x, std::uint64_t t, float c = 1) const {
    settings_.training.model->proximal_step(x, c * learning_rate(t));
  }

  // -- messages -------------------------------------------------------------------------------------------------------

  /// The vector, packed by the run's codec. Each call draws fresh random numbers.
  /// @error errc::diverged, of all `encode`, when v holds NaN or infinity; errc::device when a GPU fails
  [[nodiscard]] packet encode(const vec& v) { return encode(*settings_.packing.codec, v); }
  /// The vector, packed by another codec.
  [[nodiscard]] packet encode(const compress::codec& c, const vec& v) { return encode(c, v, quantise_, encodings_++); }
  /// The vector, packed with these random numbers, which all workers may share.
  [[nodiscard]] packet encode(const compress::codec& c, const vec& v, const random_stream& random,
                              std::uint64_t step) const;
  /// The vectors packed with fresh random numbers so far. What is packed again from that place on gets the same bits.
  std::uint64_t encodings() const noexcept { return encodings_; }
  void encode_again_from(std::uint64_t place) noexcept { encodings_ = place; }
  /// The vector, packed without loss, whatever the run's codec.
  [[nodiscard]] packet encode_exactly(const vec& v) const;
  /// The run's codec.
  const compress::codec& codec() const noexcept { return *settings_.packing.codec; }
  /// Encodes and decodes vectors, on the device that holds them.
  const compress::coder& coder() const noexcept { return *settings_.packing.coder; }
  /// The vector in a packet that a peer sent. @error errc::bad_packet also if its size is not that of the model
  [[nodiscard]] vec decode(const packet& p) const { return decode(p, model().size()); }
  /// @error errc::bad_packet also if the vector does not have this size
  [[nodiscard]] vec decode(const packet& p, std::size_t size) const;
  /// Writes the vector to the memory of the host. @error as `decode`, for another size than that of `to`
  void decode_into(std::span<float> to, const packet& p) const;
  /// (1/n) times the sum of the vectors in n packets, added in their order: the same bits on every worker that has
  /// them. @error as `decode`
  [[nodiscard]] vec mean(std::span<const packet> packets) const { return mean(packets, model().size()); }
  [[nodiscard]] vec mean(std::span<const packet> packets, std::size_t size) const;

  /// Sends a frame, unless the peer has been lost. Never waits, and no network makes it fail: a connection that breaks
  /// is opened again, and the loss of the peer comes as a change of the view.
  /// @error errc::usage for a kind that is neither one of Gossamer's nor a program's own, and for a rank that is none
  void send(rank to, tag label, packet body);
  void send_to_neighbours(tag label, const packet& body);
  /// True if at most half of the limit is under way to this peer, so that another frame will not hold up `next_step`.
  /// For algorithms that leave out a slow peer rather than wait for it.
  bool has_room(rank to) const { return host_.has_room(to); }
  /// Total of frames sent, including those before the checkpoint from which the run goes on.
  traffic sent() const;
  /// Waits for `has_room(to)`, the loss of the peer or the end of training: `co_await room(j)`. For a coroutine that
  /// sends much between two steps, or makes no steps.
  task<> room(rank to);
  /// Awaits a frame; returns `nullopt` if the peer has been lost, or the view of the label is over.
  inbox::reception receive(rank from, tag label) { return inbox_.receive(from, label, !expects(from, label)); }
  inbox::any_reception receive_any(frame_kind kind) noexcept { return inbox_.receive_any(kind); }

  class exchange;
  /// `co_await between_cuts()` until an `exchange` may begin: none does while a checkpoint waits for those under way,
  /// or a row of exchanges would put it off for ever.
  class [[nodiscard]] cut_gate;
  cut_gate between_cuts() noexcept;
  /// This worker's averagings of two models since it began, for the summary of the run.
  actors::averagings& averaged() noexcept { return averaged_; }

  /// Keeps the state for a next incarnation. A master calls it before it answers, so that no state is forgotten that a
  /// worker has seen.
  void save() const { host_.save(); }
  /// Runs another coroutine beside `algorithm::run`. The worker has finished when all have.
  void spawn(task<> routine);
  /// Runs a coroutine that serves others as long as the worker exists: the worker does not wait for its end.
  void serve(task<> routine);

  // -- claims, for checkers: see witness.hpp --------------------------------------------------------------------------

  void claim_equal(std::string_view what, std::uint64_t step, const vec& v) const;
  void claim_conserved(std::string_view what, std::uint64_t step, const vec& before, const vec& after) const;
  /// @param asked true if this worker asked and `peer` answered
  void claim_opposite(rank peer, bool asked, std::uint64_t number, const vec& delta) const {
    claim_half(peer, asked, number, delta, false);
  }
  bool exact_codec() const noexcept { return settings_.packing.exact; }

  /// For collectives that begin their round anew, among the members of the next view, when one is lost.
  /// @param collective named in the message
  /// @error errc::usage if the algorithm's trait `on_loss` lets no view end a round: this one would begin for ever
  void expect_repeated_rounds(std::string_view collective) const;

private:
  friend class hosted_worker;
  worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host);
  ~worker();

  const vec& model() const { return algorithm_->model(); }
  /// Workers of a shared island exchange in each step.
  std::uint64_t next_exchange() const {
    return algorithm_ && !islands().are_shared() ? algorithm_->next_exchange(step_) : step_;
  }
  bool has_state() const noexcept { return algorithm_ != nullptr && ready_; }
  std::vector<std::byte> state() const;
  const compute::model::kept_beside* kept_beside() const;
  std::vector<std::byte> state_for(rank joiner) const;
  void take_snapshot(std::uint64_t evaluation);
  void claim_half(rank peer, bool asked, std::uint64_t number, const vec& delta, bool atomic) const;
  void pass_cut();
  void hand_in(frame f);
  void hand_in(std::vector<frame> waited);
  std::vector<rank> cut_peers() const;
  void tell_of_cut(rank peer);
  void before_decoding(const packet& p, std::size_t size) const;
  // worker_views.cpp has the functions about views
  bool is_open(std::uint64_t t) const {
    return !held_ && (t >= limit_ || (!pauses_before(t) && host_.has_room(std::nullopt)));
  }
  bool pauses_before(std::uint64_t t) const { return parting_.at != 0 ? t >= parting_.at : is_leaving() && !owes_; }
  void wait_at_gate() {
    at_gate_ = true;
    pause_when_due();
  }
  void pause_when_due();
  void take_residual(frame f);
  void inherit_residuals(const view& next);
  void reach(std::uint64_t t);
  void begin_step(std::uint64_t t);
  void count_beginning(std::uint64_t t);
  void begin_routine();
  void expect_repeated_questions();
  const view& view_of(std::uint64_t step) const;
  rank checked(rank i) const;
  bool expects(rank from, const tag& label) const;
  bool begins_another_life(rank i, const view& before) const;
  pending_gradient start(gradient_job job);
  void step(compute::optimiser& o, vec& x, const vec& gradient, std::uint64_t t, const vec& at) const;
  void restore(std::span<const std::byte> state);
  bool advance_views();
  const std::shared_ptr<const compute::redealt_shards>& shards();
  void enter_views();
  void discard_frames_before(std::uint32_t view);
  void drop_stale_frames();
  void donate(const view& v);
  void await_state();
  void go_on_from_own_state();
  vec take_learnt();
  void take_state(frame f);
  void recall(std::span<const std::byte> remembered);
  error diverged(const std::string& sign) const;

  worker_settings settings_;
  std::unique_ptr<compute::optimiser> optimiser_;
  worker_host& host_;
  algorithm* algorithm_ = nullptr;
  random_stream quantise_;
  inbox inbox_;
  std::deque<std::shared_ptr<const view>> views_; // the view in force, then later ones
  std::shared_ptr<const view> sampled_;           // view whose shards the last minibatch came from
  bool ready_;
  bool behind_ = false;               // not ready, but holds the state of an earlier round
  std::uint32_t state_of_view_ = 0;   // number of the view that promised the awaited state
  std::uint32_t donated_of_view_ = 0; // last view whose promises this worker has kept
  std::optional<frame> early_state_;  // of a view that the donor heard of first

  std::uint64_t encodings_ = 0;
  std::uint64_t gradients_ = 0;
  std::uint64_t stale_frames_ = 0;
  std::uint64_t updates_ = 0; // of all workers, as last reported by the leader
  std::uint64_t step_ = 0;    // the step that is under way or about to begin
  std::uint64_t limit_;
  std::uint64_t save_at_ = 0; // the step of the next checkpoint; 0: none was ordered
  cut cut_;
  signal cut_passed_;
  averagings averaged_;
  bool held_ = false;
  parting parting_;
  bool owes_ = false;                  // at the next step, as the algorithm says
  std::optional<std::uint64_t> begun_; // the last step that `algorithm::run` began, in its present routine
  bool ends_early_ = false;
  bool at_gate_ = false, paused_ = false;
  std::map<rank, frame> residuals_; // of leaving workers, for this worker
  signal gate_;
  signal more_room_;
  signal change_;
  signal time_passed_;
  gradient_times gradient_times_;
  std::chrono::nanoseconds gradient_began_{0};
  vec gradient_;
  bool gradient_ready_ = false;
  std::optional<std::uint64_t> gradient_under_way_; // its step
  signal gradient_signal_;
  std::vector<task<>> routines_; // last: its destruction takes the coroutines off the lists of their waits
  std::vector<task<>> services_;
};

/// A scope that keeps checkpoints out of the time between the two halves of an exchange with a peer. Construct it
/// before the peer is asked and after `between_cuts`; destroy it when this worker has done its half, or will not. Any
/// number at a time; see `cut`.
class [[nodiscard]] worker::exchange {
public:
  /// @param number of the frame that answers, in its label
  exchange(worker& w, rank with, std::uint64_t number) : worker_(w), which_{with, number} {
    GOSSAMER_ASSERT(!worker_.cut_.is_ordered(), "no exchange begins while a checkpoint is to be saved");
    worker_.cut_.begin(which_);
  }
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() { worker_.cut_.end(which_); }
  /// Claims, as the asker, that the peer adds exactly -delta, and that checkpoints have both halves or none.
  void claim_opposite(const vec& delta) const { worker_.claim_half(which_.with, true, which_.number, delta, true); }

private:
  worker& worker_;
  cut::exchange which_;
};

} // namespace gossamer::actors

#include "gossamer/actors/worker/worker_waits.hpp"
