#pragma once

#include "gossamer/actors/worker/task.hpp"
#include "gossamer/base/archive.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/codec.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::actors {

class worker;

/// A worker's memory of the model that masters hold.
struct remembered_model {
  vec model;                 ///< the whole model
  std::uint64_t version = 0; ///< in the algorithm's own numbering, as masters count
};

/// One worker's part of a training algorithm: its state, and the coroutine that reads like the paper.
///
/// An algorithm sees only its worker: no sockets, threads, clocks or generators of its own. Therefore the same object
/// runs in one process, across machines and in simulation. Threads: actor-confined.
class algorithm {
public:
  virtual ~algorithm() = default;

  /// The worker's life, from the state that it has to the end of training.
  virtual task<> run(worker& w) = 0;
  /// Visits the state, so that another object with these fields goes on from the beginning of the present step. Called
  /// when `next_step` returns, and at any suspension of an asynchronous algorithm or of one that repeats its rounds.
  virtual void fields(archive& a) = 0;
  /// Adapts fields that have just been read from the state of another worker, in another place. State that belongs to a
  /// place (residuals, replicas of neighbours) must be made this worker's own.
  virtual void inherit(worker&) {}
  /// Called after `inherit` on a worker that had been cut off from most others and has learnt on by itself, as
  /// asynchronous algorithms do. `learnt` is the model of that time; by default it is given up.
  virtual void reunite(const vec& /*learnt*/) {}
  /// Returns a worker's copy of the masters' model, as last told. A master that has lost its process and its state
  /// begins anew from it.
  virtual remembered_model remembers() const { return {model(), 0}; }
  /// Starts a new master from a remembered model, before `run`. @error errc::bad_packet if the model belongs to another
  /// run
  virtual void begin_from(worker&, remembered_model) {}
  /// The compression error that is kept back from this worker's updates: it must not be lost when the worker leaves the
  /// run. Called where `fields` may be; empty if the algorithm keeps none.
  virtual vec residual() const { return {}; }
  /// What a worker that leaves hands to its heir: the residual and, where moves are shared seldom, what this worker has
  /// not shared yet. Called where `fields` may be; empty on all workers of a run or on none.
  virtual vec handed_over(const worker&) const { return residual(); }
  /// Adds what a worker that leaves has handed over to this worker's own residual.
  virtual void take_over(const vec& /*theirs*/) {}
  /// The first step from t on that exchanges something; for algorithms that repeat interrupted rounds. Workers that
  /// have not reached it can still take part, though others are steps ahead. Not asked where islands are shared.
  virtual std::uint64_t next_exchange(std::uint64_t t) const { return t; }
  /// The worker's present model. Evaluations may read it between any two messages.
  virtual const vec& model() const = 0;
};

/// The pairs of workers between which an algorithm's frames travel.
enum class exchange_pattern {
  neighbours, ///< along the edges of the topology
  bipartite,  ///< along the edges of a topology without odd cycles: active workers ask, passive workers answer
  all,        ///< among all workers, along a ring, or between workers and masters: independent of the topology
};

/// Reaction to the death of a worker's compute actor.
enum class compute_failure { end_run, restart };

/// Fate of the round of a synchronous algorithm that is under way when a worker is lost. Asynchronous algorithms have
/// no rounds.
enum class interrupted_round {
  finish, ///< `receive` returns nothing for the lost, the algorithm makes do without; the new view begins a step later
  repeat, ///< waits of an old view return nothing, and the members of the new view repeat the round; a worker that is a
          ///< round behind takes its state from one that is not
};

/// The property that an algorithm needs of the codec that the user chooses.
enum class codec_need { any, unbiased, exact };

/// Properties that an algorithm keeps in every case. Nothing at run time depends on them; the laws and the simulated
/// world's auditor check them. A promise that is not made is not checked.
struct algorithm_promises {
  /// Most exchanges (`algorithm::next_exchange`) behind the step of a synchronous worker that a neighbour may have
  /// begun; checked in every simulated run.
  std::optional<std::uint64_t> most_exchanges_apart = std::nullopt;
  /// The loss of a codec changes the mean of all models.
  bool lossy_codecs_move_mean = false;
  /// The mean of all models follows the mean of their gradients; false if it follows signs of them, or a part of them.
  bool follows_mean_gradient = true;
  /// The algorithm is plain SGD with one worker and an exact codec.
  bool sgd_alone = true;
  /// The equality holds to the bit; false if it holds up to rounding, as sums in another order do.
  bool sgd_to_the_bit = true;
};

/// An algorithm's needs of a run, and its promises.
struct algorithm_traits {
  exchange_pattern exchange = exchange_pattern::neighbours;
  bool synchronous = true;  ///< all workers do the same number of steps; otherwise the run counts updates in total
  bool equal_steps = false; ///< all workers do the same number of steps, though asynchronously
  /// A gradient may be any direction, such as the step of a foreign optimiser: with a rate of 1 and the optimiser sgd
  /// the algorithm moves by what it is given. False if it takes the sign or the norm of gradients and scales them
  /// itself, or wants gradients at other points than its own model.
  bool takes_direction = true;
  bool in_islands = false;    ///< workers of an island share each step: a run may have `--islands`
  bool own_optimiser = false; ///< the optimiser is the algorithm's own, and the run's does nothing: a run names none
  codec_need needs = codec_need::any;
  const char* default_codec = "identity";
  const char* default_optimiser = "momentum:beta=0.9";
  std::optional<double> default_lr = std::nullopt; ///< absent: as the optimiser suggests
  /// The optimiser's rate grows with the number of workers, each of which does fewer steps of an epoch (see
  /// `default_lr` of room `run`). False where one model takes the gradients of all workers one by one, or large steps
  /// are unstable.
  bool lr_grows = true;
  compute_failure on_compute_failure = compute_failure::end_run;
  interrupted_round on_loss = interrupted_round::finish;
  std::uint64_t most_elements = 0; ///< of a vector in a frame, where it may have more than the model
  algorithm_promises promises = {};
};

/// Arguments of the construction of an algorithm.
struct algorithm_setup {
  const arguments& given;
  vec initial;                                ///< model with which training starts
  std::span<const tensor_shape> tensors = {}; ///< parts of `initial`, for codecs that the algorithm makes
  std::size_t master = 0;                     ///< index among the masters
  registry<compress::codec_entry> codecs = compress::codecs(); ///< those that parameters may name
};

/// The reason why an algorithm does not find the minimum.
struct limitation {
  std::string with = {}; ///< name of the optimiser or schedule; empty: any
  std::string why;
};

struct algorithm_entry {
  description about;
  algorithm_traits traits;
  /// @error errc::usage if parameters contradict each other
  std::function<std::unique_ptr<algorithm>(const algorithm_setup&)> make;
  /// Number of masters, and the algorithm that each of them runs; null for an algorithm without masters. Their ranks
  /// follow those of the workers. A master computes no gradients. A master that dies starts anew from the state that it
  /// saved last (`worker::save`), or from a worker's memory if its process has died as well; then `run` begins again.
  /// Evaluations use the masters' models, one behind the other.
  std::size_t (*masters)(const arguments&) = nullptr;
  std::unique_ptr<algorithm> (*make_master)(const algorithm_setup&) = nullptr;
  /// The pairs with these parameters; null if `traits.exchange` holds with all of them.
  exchange_pattern (*exchange)(const arguments&) = nullptr;
  /// True if with these parameters the run's codec gets parts of vectors: a run refuses codecs that need whole ones
  /// (capabilities::whole_vectors). Null if it never does.
  bool (*packs_parts)(const arguments&) = nullptr;
  /// Known failures. The algorithm finds the minimum with all other optimisers and schedules
  /// (tests/simulation/minimum_laws_test.cpp).
  std::vector<limitation> limits = {};

  /// The reason why the algorithm fails with this optimiser or schedule; null if it does not. The empty name stands for
  /// any.
  const limitation* limit(std::string_view with) const {
    for (const auto& l : limits)
      if (l.with == with)
        return &l;
    return nullptr;
  }
  /// False for a baseline that is known to fail.
  bool converges() const { return limit("") == nullptr; }
};

/// All algorithms. A new one needs a file with its `algorithm_entry` and one line in algorithms/registry.cpp.
const registry<algorithm_entry>& algorithms();

} // namespace gossamer::actors
