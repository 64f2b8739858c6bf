#pragma once

#include "gossamer/actors/collectives/staleness_gate.hpp"
#include "gossamer/compress/codec.hpp"

#include <map>

namespace gossamer::actors {

/// Asynchronous proximal SVRG with a master: the common part of AsyFPG, QSVRG, HALP, AsyLPG and their sparse and
/// accelerated forms.
///
///   epoch s     xt = snapshot;   gf = grad f(xt), in as many parts as there are workers
///   m times     worker  alpha = mean over a minibatch a of  grad f_a(q) - grad f_a(xt),   q: x as sent to the worker
///               master  u = C(alpha) + gf;   step(u)                 m = ceil(samples / minibatch)
///
/// Minibatches are drawn from all samples, so that E u = grad f(q). The samples' l2 term belongs to f, the l1 term is
/// left to the proximal step.
/// Johnson, Zhang: Accelerating stochastic gradient descent using predictive variance reduction, NeurIPS 2013; Yu, Wu,
/// Huang: Double quantization for communication-efficient distributed optimization, NeurIPS 2019.
///
///   worker --request(the result of its last task)--> master --reply(its next task)--> worker
///
/// The master's handling of one message is atomic. Exactly m gradients an epoch are asked for and awaited: none crosses
/// into the next epoch, whose snapshot is another. With `staleness=tau` no gradient is more than tau updates old when
/// it is applied (staleness_gate.hpp); the paper bounds the delay by assumption.
///
/// Lost workers: their tasks go to other workers. A worker that comes back gets the snapshot first. Lost masters: start
/// anew from the state that they saved before their last answer. A worker whose answer was lost asks again; its task,
/// which it never got, is withdrawn, and it gets another, and the snapshot again. A master that has lost its process,
/// and its state with it, begins another epoch from the snapshot of some worker.
///
/// Payload bits per worker and epoch: 32 d down and 32 d up for the full gradient, and those of models and gradients.
enum class svrg_kind : std::uint32_t {
  nothing,          ///< request: no result. Reply: training is over
  part,             ///< of the full gradient: its number. Request: the sum, exact. Reply: compute it at your snapshot
  gradient,         ///< request: alpha; its number is the epoch
  snapshot,         ///< reply: xt, exact, and nothing to do yet
  snapshot_part,    ///< reply: xt, exact, and the number of a part to compute
  model,            ///< reply: x; the number is the epoch (also below)
  offset,           ///< reply: x - xt
  same_as_snapshot, ///< reply: x = xt, in one bit
};

/// A kind and a number in the 32 bits of `tag::part`.
struct svrg_label {
  svrg_kind kind = svrg_kind::nothing;
  std::uint32_t number = 0; ///< modulo 2^28

  static constexpr std::uint32_t numbers = 1u << 28;
  std::uint32_t packed() const noexcept { return static_cast<std::uint32_t>(kind) * numbers + number % numbers; }
  static svrg_label of(std::uint32_t packed) noexcept {
    return {static_cast<svrg_kind>(packed / numbers), packed % numbers};
  }
  friend bool operator==(const svrg_label&, const svrg_label&) = default;
};

/// One message of the protocol.
struct svrg_message {
  svrg_label label = {};
  packet body = {};
};

/// A message with x, for a worker.
struct told_model {
  svrg_kind kind;
  packet body;
};

/// The workers of the whole family. @param gradients packs alpha
std::unique_ptr<algorithm> make_svrg_worker(const algorithm_setup& s, std::unique_ptr<compress::codec> gradients);
std::unique_ptr<algorithm> make_exact_svrg_worker(const algorithm_setup& s);

/// The master's epochs, tasks and logs. Subclasses add the maths.
class svrg_master : public master {
public:
  explicit svrg_master(const algorithm_setup& s);

  const vec& model() const final { return shows_snapshot_ ? snapshot_ : x_; }
  void begin_from(worker& w, remembered_model known) final;

protected:
  std::uint64_t epoch() const noexcept { return epoch_; } ///< from 1
  std::uint64_t updates() const noexcept { return updates_; }
  const vec& snapshot() const noexcept { return snapshot_; }
  const vec& full_gradient() const noexcept { return full_; } ///< at the snapshot

  vec x_;

private:
  // -- the maths
  /// An epoch begins: its full gradient is there.
  virtual void begin(worker&) {}
  virtual told_model tell(worker& w) = 0;
  virtual void step(worker& w, const vec& u) = 0;
  /// The snapshot of the next epoch.
  /// @param m number of steps in the epoch
  virtual vec next_snapshot(std::uint64_t /*m*/) { return x_; }
  virtual void further_fields(archive&) {}
  /// Restores the state from the snapshot: all else has been lost.
  virtual void begin_from_snapshot() {}

  // -- the protocol
  void own_fields(archive& a) final;
  void take(worker& w, const frame& asked) final;
  void act(worker& w) final;
  void withdraw(rank who) final;
  std::optional<answer> answer_to(worker& w, const pending_request& q) final;
  void take_part(worker& w, std::uint32_t part, const vec& sum);
  void apply(worker& w, const vec& alpha);
  void end_epoch();
  std::optional<std::uint32_t> next_part(const worker& w) const;
  bool may_read(const worker& w) const;
  std::uint64_t epoch_length(const worker& w) const;
  std::uint32_t number_of_epoch() const noexcept { return static_cast<std::uint32_t>(epoch_ % svrg_label::numbers); }

  vec snapshot_, full_; // full_ is empty until all of its parts are there
  std::uint64_t epoch_ = 1, inner_ = 0, updates_ = 0;
  std::uint64_t shares_ = 0;            // number of workers that share the full gradient; 0: not yet known
  std::map<std::uint32_t, vec> sums_;   // finished parts of the full gradient
  std::map<rank, std::uint64_t> told_;  // epoch of each worker's snapshot
  std::map<rank, std::uint32_t> parts_; // worker -> part that it computes
  staleness_gate gate_;                 // by the updates of this epoch
  bool shows_snapshot_;
};

/// Traits of the whole family.
inline constexpr algorithm_traits svrg_traits{.exchange = exchange_pattern::all,
                                              .synchronous = false,
                                              .takes_direction = false,
                                              .needs = codec_need::exact,
                                              .default_optimiser = "sgd",
                                              .lr_grows = false,
                                              .on_compute_failure = compute_failure::restart,
                                              .promises = {.sgd_alone = false}};

/// An algorithm's own parameters, followed by those of the whole family.
/// @param output default of the evaluated model: "iterate" or "snapshot"
std::vector<parameter> family_parameters(std::vector<parameter> own, std::string output = "iterate");

} // namespace gossamer::actors
