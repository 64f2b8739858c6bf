#pragma once

#include "gossamer/actors/runtime/algorithm.hpp"
#include "gossamer/actors/runtime/inbox.hpp"
#include "gossamer/actors/runtime/view.hpp"
#include "gossamer/actors/runtime/witness.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"
#include "gossamer/compress/coder.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"
#include "gossamer/compute/schedule.hpp"

#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace gossamer::actors {

/// What a compute actor is asked for. Of a model with an l2 term, every gradient has its part.
struct gradient_job {
  enum class kind : std::uint8_t {
    minibatch,  ///< the mean gradient at x over the worker's minibatch of this step
    difference, ///< the mean of grad f_a(x) - grad f_a(anchor), over a minibatch drawn from all samples
    full_part,  ///< the sum of the gradients at x over one of `parts` equal parts of all samples
  };
  std::uint64_t step = 0;
  vec x;
  kind what = kind::minibatch;
  vec anchor = {};
  std::uint32_t part = 0, parts = 1;
};

/// A gradient, as a compute actor answers it.
struct gradient_result {
  std::uint64_t step = 0;
  vec gradient;
  double loss = 0;    ///< mean at x over the samples
  bool update = true; ///< counts as one: not so a part of the full gradient
};

/// What a worker tells the coordinator after each gradient.
struct step_report {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t step = 0; ///< gradients of this worker so far
  double loss = 0;
  traffic sent; ///< of this worker, since the start
};

/// A worker's model at one moment, for an evaluation.
struct snapshot {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t evaluation = 0; ///< which evaluation it belongs to
  std::uint64_t gradients = 0;  ///< of this worker so far
  vec model;
  traffic sent;
};

class worker;

/// What a worker needs from the world it lives in. The local world implements it with actors.
class worker_host {
public:
  virtual ~worker_host() = default;
  /// Starts a gradient at x; answered by `worker::gradient_arrived`.
  virtual void compute(gradient_job job) = 0;
  virtual void report(step_report) = 0;
  virtual void report(snapshot) = 0;
  virtual void send(rank to, frame f) = 0;
  virtual traffic sent() const = 0;
  /// The worker has got the state of another one and goes on.
  virtual void joined(std::uint64_t /*step*/) {}
  /// Keeps the worker's state (`worker::state`) for its next life, where workers may die.
  virtual void save(const worker&) {}
};

/// The rank in the key of random numbers that all workers share.
inline constexpr rank nobody = std::numeric_limits<rank>::max();

/// Everything about a worker that is fixed before it starts.
struct worker_settings {
  rank id = 0;
  std::uint32_t incarnation = 0;
  std::size_t workers = 1;                             ///< at the start of the run; their ranks come first,
  std::size_t masters = 0;                             ///< and those of the masters behind them
  std::shared_ptr<const view> everybody;               ///< view 1; null for a worker that joins later
  std::shared_ptr<const std::vector<std::byte>> saved; ///< the state of a former life, to go on from; mostly null
  bool synchronous = true;
  bool exact_codec = true;

  std::uint64_t seed = 0;
  std::uint64_t step_limit = std::numeric_limits<std::uint64_t>::max(); ///< of this worker
  std::uint64_t evaluation_steps = 0; ///< a synchronous worker sends a snapshot every so many steps; 0: never
  std::size_t samples = 1;            ///< of the training set
  std::size_t batch = 1;              ///< samples of a minibatch
  double updates_per_epoch = 1;       ///< gradients, of all workers together, that touch every sample once
  double planned_epochs = 1;
  double lr = 0.1;

  std::shared_ptr<const compress::codec> codec;
  /// Encodes and decodes for all codecs; never null.
  std::shared_ptr<const compress::coder> coder = std::make_shared<const compress::coder>();
  std::shared_ptr<const compute::schedule> schedule;
  std::shared_ptr<const compute::model> model; ///< for its proximal step
  buffer_pool pool;                            ///< for what is received
  actors::witness* witness = nullptr;          ///< outlives the worker; may be null
};

/// What an algorithm sees of the world: its place among the others, gradients, messages, and the end of training.
///
/// Everything that waits is an awaitable. Threads: confined to the actor that owns it.
class worker {
public:
  worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  rank id() const noexcept { return settings_.id; }
  random_stream random(purpose use) const noexcept { return {settings_.seed, settings_.id, use}; }
  /// The same numbers for all workers of the run.
  random_stream shared_random(purpose use) const noexcept { return {settings_.seed, nobody, use}; }

  // -- who is there: may change whenever the coroutine is suspended
  // ----------------------------------------------------

  /// The view in force.
  const view& present() const noexcept { return *views_.front(); }
  /// All workers that take part, ascending; this one among them.
  std::span<const rank> members() const noexcept { return present().members; }
  std::span<const rank> neighbours() const { return present().mixing->neighbours(id()); }
  /// Entry W_ij of the mixing matrix, for this worker i and j itself or a neighbour.
  float mixing(rank j) const { return present().mixing->weight(id(), j); }
  /// True for workers that start exchanges, false for those that answer.
  bool active() const { return present().active[id()]; }
  /// Whether this worker or master has not been lost.
  bool is_present(rank i) const { return life_of(i).has_value(); }
  /// Which of its lives it is in, if it has not been lost.
  std::optional<std::uint32_t> life_of(rank i) const { return views_.back()->incarnations[i]; }
  /// How many workers the run began with; as many as there are ranks below those of the masters.
  std::size_t workers() const noexcept { return settings_.workers; }
  std::size_t masters() const noexcept { return settings_.masters; }
  rank master(std::size_t k) const noexcept { return static_cast<rank>(settings_.workers + k); }
  /// `co_await change()` until somebody is lost or comes back, or training is over.
  signal::waiter change() noexcept { return change_.wait(); }

  // -- progress -------------------------------------------------------------------------------------------------------

  class step_gate;
  /// `co_await next_step(t)`: may step t begin? False when training is over. Step t begins after t updates of x.
  step_gate next_step(std::uint64_t t) noexcept;
  /// Training is over: no step begins any more.
  bool over() const noexcept { return limit_ == 0; }
  std::size_t samples() const noexcept { return settings_.samples; }
  /// How many samples a gradient is the mean of.
  std::size_t batch() const noexcept { return settings_.batch; }
  /// Gradients, of all workers together, that touch every sample once.
  double updates_per_epoch() const noexcept { return settings_.updates_per_epoch; }
  /// gamma_t: the base rate times the schedule at the present progress.
  float learning_rate(std::uint64_t t) const;

  // -- gradients ------------------------------------------------------------------------------------------------------

  class pending_gradient;
  /// Sends x to the compute actor and returns at once: `auto g = w.start_gradient(x, t); ...; co_await g`.
  /// One gradient may be under way at a time.
  pending_gradient start_gradient(const vec& x, std::uint64_t t);
  /// The mean of grad f_a(x) - grad f_a(anchor) over a minibatch a that is drawn from all samples, not from the
  /// worker's own: SVRG's estimator is unbiased only so.
  pending_gradient start_difference(const vec& x, const vec& anchor, std::uint64_t t);
  /// The sum of the gradients at x over part `part` of `parts` of all samples. Counts as no update.
  pending_gradient start_full_part(const vec& x, std::uint32_t part, std::uint32_t parts, std::uint64_t t);
  /// x <- prox(x - gamma_t * u(g)): the optimiser's step (momentum and weight decay included), then the model's. On the
  /// device where gradients are computed, wherever x was.
  void update(vec& x, const vec& gradient, std::uint64_t t);
  /// gamma_t * u(g): what `update` would subtract from x, for algorithms that compress it first. Call one of the two in
  /// a step, and `prox` where x has been moved without `update`.
  vec direction(const vec& x, const vec& gradient, std::uint64_t t);
  /// x <- prox_{c gamma_t h}(x), the model's proximal step, for a step size of c gamma_t.
  void prox(vec& x, std::uint64_t t, float c = 1) const { settings_.model->proximal_step(x, c * learning_rate(t)); }

  // -- messages -------------------------------------------------------------------------------------------------------

  /// The vector as the run's codec packs it. Each call draws fresh random numbers.
  packet encode(const vec& v) { return encode(*settings_.codec, v); }
  /// As another codec packs it.
  packet encode(const compress::codec& c, const vec& v) { return encode(c, v, quantise_, encodings_++); }
  /// With these random numbers, which all workers may have in common.
  packet encode(const compress::codec& c, const vec& v, const random_stream& random, std::uint64_t step) const;
  /// As it is, whatever the run's codec.
  packet encode_exactly(const vec& v) const;
  /// The run's codec.
  const compress::codec& codec() const noexcept { return *settings_.codec; }
  /// Who encodes and decodes, where vectors are.
  const compress::coder& coder() const noexcept { return *settings_.coder; }
  /// The vector in a packet that a peer sent. @error errc::bad_packet also when it has not the dimension of the model
  vec decode(const packet& p) const { return decode(p, model().size()); }
  /// @error errc::bad_packet also when the vector has not this size
  vec decode(const packet& p, std::size_t size) const;

  /// Nothing is sent to a peer that has been lost.
  void send(rank to, tag label, packet body);
  void send_to_neighbours(tag label, const packet& body);
  /// Awaits a frame; gives nothing when the peer has been lost, or the view of the label is over.
  inbox::reception receive(rank from, tag label) { return inbox_.receive(from, label, !expects(from, label)); }
  inbox::any_reception receive_any(frame_kind kind) noexcept { return inbox_.receive_any(kind); }

  /// Keeps the state for a next life. A master calls it before it answers, so that what others have seen is never
  /// forgotten.
  void save() const { host_.save(*this); }
  /// Runs another coroutine beside `algorithm::run`. The worker has finished when all have.
  void spawn(task<> routine);
  /// Runs a coroutine that serves others as long as the worker exists: nobody waits for its end.
  void serve(task<> routine);

  // -- claims, for checkers: see witness.hpp
  // ---------------------------------------------------------------------------

  void claim_equal(std::string_view what, std::uint64_t step, const vec& v) const;
  void claim_conserved(std::string_view what, std::uint64_t step, const vec& before, const vec& after) const;
  /// @param asked this worker asked, `peer` answered
  void claim_opposite(rank peer, bool asked, std::uint64_t exchange, const vec& delta) const;
  bool exact_codec() const noexcept { return settings_.exact_codec; }

  // -- for the actor that owns this worker ----------------------------------------------------------------------------

  /// Starts the algorithm; where a worker joins, as soon as it has the state of another one.
  void run(algorithm& a);
  void deliver(frame f);
  void gradient_arrived(gradient_result result);
  /// First half of every change that all workers make together: until `proceed` no step begins, and none ends because
  /// of a frame.
  /// @returns the step that this worker is in, or about to begin
  std::uint64_t hold();
  /// The first step from there on in which it exchanges something.
  std::uint64_t next_exchange() const { return algorithm_ ? algorithm_->next_exchange(step_) : step_; }
  /// Second half. @param limit no step from this one on begins
  void proceed(std::uint64_t limit);
  /// Peer lost, peer back: takes over a later view, now or when its first step comes.
  void adopt(std::shared_ptr<const view> next);
  /// False while the state of another worker is awaited. A view that no longer promises one bids it go on from its own.
  bool ready() const noexcept { return ready_; }
  void progressed(std::uint64_t updates) noexcept { updates_ = std::max(updates_, updates); }
  void take_snapshot(std::uint64_t evaluation);
  /// Everything that a later step depends on: the fields of the algorithm and of the optimiser, and how many vectors
  /// were encoded.
  std::vector<std::byte> state() const;
  /// True when `run` was called and all coroutines have ended; frames may come before that. @error whatever ended one
  /// of them
  bool finished();
  std::uint64_t gradients_done() const noexcept { return gradients_; }
  const vec& model() const { return algorithm_->model(); }

private:
  // worker_views.cpp has those of them that are about views
  void reach(std::uint64_t t);
  void begin_step(std::uint64_t t);
  const view& view_of(std::uint64_t step) const;
  bool expects(rank from, const tag& label) const;
  pending_gradient start(gradient_job job);
  void restore(std::span<const std::byte> state);
  bool advance_views();
  void enter_views();
  void discard_frames_before(std::uint32_t view);
  void donate(const view& v);
  void await_state();
  void go_on_from_own_state();
  void take_state(frame f);
  double epoch(std::uint64_t t) const;
  error diverged(const std::string& sign) const;

  worker_settings settings_;
  std::unique_ptr<compute::optimiser> optimiser_;
  worker_host& host_;
  algorithm* algorithm_ = nullptr;
  random_stream quantise_;
  inbox inbox_;
  std::deque<std::shared_ptr<const view>> views_; // in force, and those to come
  bool ready_;
  bool behind_ = false;               // not ready, but has a state: that of a round before
  std::uint32_t state_of_view_ = 0;   // that has promised a state
  std::uint32_t donated_of_view_ = 0; // the last whose promises this worker has kept
  std::optional<frame> early_state_;  // of a view that its donor heard of first

  std::uint64_t encodings_ = 0;
  std::uint64_t gradients_ = 0;
  std::uint64_t updates_ = 0; // of all workers, as last heard from the coordinator
  std::uint64_t step_ = 0;    // the step that is under way or about to begin
  std::uint64_t limit_;
  bool held_ = false;
  signal gate_;
  signal change_;
  vec gradient_;
  bool gradient_ready_ = false;
  std::optional<std::uint64_t> gradient_under_way_; // its step
  signal gradient_signal_;
  std::vector<task<>> routines_; // last: their ends take them off the lists of whatever they wait for
  std::vector<task<>> services_;
};

/// See `worker::next_step`.
class worker::step_gate {
public:
  step_gate(worker& w, std::uint64_t t) noexcept : worker_(w), step_(t) {}
  bool await_ready() const noexcept { return !worker_.held_; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { worker_.gate_.resume_on_notify(waiting); }
  bool await_resume() {
    worker_.reach(step_);
    return step_ < worker_.limit_;
  }

private:
  worker& worker_;
  std::uint64_t step_;
};

/// See `worker::start_gradient`.
class worker::pending_gradient {
public:
  explicit pending_gradient(worker& w) noexcept : worker_(w) {}
  bool await_ready() const noexcept { return worker_.gradient_ready_; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { worker_.gradient_signal_.resume_on_notify(waiting); }
  vec await_resume() noexcept {
    worker_.gradient_ready_ = false;
    worker_.gradient_under_way_.reset();
    return std::move(worker_.gradient_);
  }

private:
  worker& worker_;
};

inline worker::step_gate worker::next_step(std::uint64_t t) noexcept {
  step_ = t;
  return {*this, t};
}

} // namespace gossamer::actors
