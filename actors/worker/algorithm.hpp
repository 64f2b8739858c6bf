#pragma once

#include "gossamer/actors/worker/task.hpp"
#include "gossamer/base/archive.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::actors {

class worker;

/// What a worker knows of the model that masters hold.
struct remembered_model {
  vec model;                 ///< all of it
  std::uint64_t version = 0; ///< as the masters count; the algorithm's own number
};

/// One worker's part of a training algorithm: its state, and the coroutine that reads like the paper.
///
/// An algorithm sees nothing but its worker: no sockets, threads, clocks or generators of its own. That is what lets
/// the same object run in one process, across machines and in simulation. Threads: actor-confined.
class algorithm {
public:
  virtual ~algorithm() = default;

  /// The worker's life, from the state that it has to the end of training.
  virtual task<> run(worker& w) = 0;
  /// The state, such that another object with these fields goes on from the beginning of the present step: when
  /// `next_step` returns, and at any suspension of an asynchronous algorithm or of one that repeats its rounds.
  virtual void fields(archive& a) = 0;
  /// The fields have just been read from the state of another worker, whose place among the others is not this one's:
  /// what belongs to the place (residuals, replicas of neighbours) must be made this worker's own.
  virtual void inherit(worker&) {}
  /// After `inherit`: this worker had been cut off from most others, and has learnt on by itself (asynchronous
  /// algorithms do). `learnt` is the model that it came to; by default that is given up.
  virtual void reunite(const vec& /*learnt*/) {}
  /// Of a worker: what it was told last. A master whose process has died, and its state with it, begins anew from that.
  virtual remembered_model remembers() const { return {model(), 0}; }
  /// Of a master that has been made anew, before `run`. @error errc::bad_packet when that is the model of another run
  virtual void begin_from(worker&, remembered_model) {}
  /// What compression has kept back of this worker's updates: it must not be lost when the worker leaves the run.
  /// Asked for where `fields` may be; empty: there is no such thing.
  virtual vec residual() const { return {}; }
  /// That of another worker, which leaves, becomes part of this one's.
  virtual void take_over(const vec& /*residual*/) {}
  /// Of an algorithm that repeats interrupted rounds: the first step, from t on, that exchanges something. Workers that
  /// have not got there can still take part, though others are steps ahead.
  virtual std::uint64_t next_exchange(std::uint64_t t) const { return t; }
  /// The worker's model as it is now; read by evaluations between any two messages.
  virtual const vec& model() const = 0;
};

/// Which workers an algorithm's frames travel between.
enum class exchange_pattern {
  neighbours, ///< along the edges of the topology
  bipartite,  ///< along the edges of a topology without odd cycles: active workers ask, passive workers answer
  all,        ///< among all workers, along a ring, or between workers and masters: whatever the topology
};

/// What to do when a worker's compute actor dies.
enum class compute_failure { end_run, restart };

/// What a synchronous algorithm does with the round that is under way when a worker is lost. (Asynchronous ones have no
/// rounds.)
enum class interrupted_round {
  finish, ///< `receive` gives nothing for the lost, the algorithm makes do without; the new view begins a step later
  repeat, ///< waits of a view that is over give nothing, and the round is done again by the members of the new one;
          ///< a worker that is a round behind takes its state from one that is not
};

/// What an algorithm needs of the codec that the user chooses.
enum class codec_need { any, unbiased, exact };

/// What an algorithm keeps to, whatever happens: nothing at run time depends on it, the laws and the simulated world's
/// auditor hold it to it. A promise that is not made is not checked.
struct algorithm_promises {
  /// How many steps apart neighbours of a synchronous algorithm are at most; checked in every simulated run.
  std::optional<std::uint64_t> most_steps_apart = std::nullopt;
  /// What a codec loses changes the mean of all models.
  bool lossy_codecs_move_mean = false;
  /// The mean of all models follows the mean of their gradients; otherwise signs of them, or some of them.
  bool follows_mean_gradient = true;
  /// With one worker and an exact codec it is plain SGD,
  bool sgd_alone = true;
  /// and that to the bit; else up to rounding, which adds up otherwise.
  bool sgd_to_the_bit = true;
};

/// What an algorithm needs of a run, and what it promises.
struct algorithm_traits {
  exchange_pattern exchange = exchange_pattern::neighbours;
  bool synchronous = true;  ///< all workers do the same number of steps; otherwise the run counts updates in total
  bool equal_steps = false; ///< of an asynchronous algorithm: all workers do the same number of steps nevertheless
  codec_need needs = codec_need::any;
  const char* default_codec = "identity";
  const char* default_optimiser = "momentum:beta=0.9";
  std::optional<double> default_lr = std::nullopt; ///< absent: what the optimiser suggests
  compute_failure on_compute_failure = compute_failure::end_run;
  interrupted_round on_loss = interrupted_round::finish;
  algorithm_promises promises = {};
};

/// What an algorithm is made of.
struct algorithm_setup {
  const arguments& given;
  vec initial;                                ///< where training starts
  std::span<const tensor_shape> tensors = {}; ///< that `initial` consists of, for codecs that the algorithm makes
  std::size_t master = 0;                     ///< which of the masters
};

/// Why an algorithm does not find the minimum.
struct limitation {
  std::string with = {}; ///< the optimiser or schedule of this name; empty: whatever they are
  std::string why;
};

struct algorithm_entry {
  description about;
  algorithm_traits traits;
  /// @error errc::usage when parameters contradict each other
  std::unique_ptr<algorithm> (*make)(const algorithm_setup&);
  /// Of an algorithm with masters, whose ranks follow those of the workers: how many, and what each of them runs. A
  /// master computes no gradients. One that dies starts anew from the state that it saved last (`worker::save`), or,
  /// when its process has died as well, from what a worker remembers; then `run` begins again. What is evaluated is the
  /// masters' models, one behind the other.
  std::size_t (*masters)(const arguments&) = nullptr;
  std::unique_ptr<algorithm> (*make_master)(const algorithm_setup&) = nullptr;
  /// With all other optimisers and schedules it finds the minimum (tests/simulation/minimum_laws_test.cpp).
  std::vector<limitation> limits = {};

  /// The reason why it fails with this optimiser or schedule; null if it does not. The empty name: with any.
  const limitation* limit(std::string_view with) const {
    for (const auto& l : limits)
      if (l.with == with)
        return &l;
    return nullptr;
  }
  /// Otherwise a baseline that is known to fail.
  bool converges() const { return limit("") == nullptr; }
};

/// All algorithms. Adding one: a file with its `algorithm_entry` and one line in algorithms/registry.cpp.
const registry<algorithm_entry>& algorithms();

} // namespace gossamer::actors
