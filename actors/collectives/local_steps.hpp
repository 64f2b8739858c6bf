#pragma once

#include "gossamer/actors/collectives/step_rounds.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <optional>

namespace gossamer::actors {

/// The rounds of a synchronous algorithm whose workers take E steps by themselves, and exchange something once.
///
///   y_0 = x,  y_e+1 = prox(y_e - gamma_t d_e),  d_e = u(grad F_i(y_e; xi_i,t)),  e = 0 .. E - 1
///
/// x is the model that all have in common when a round begins. An algorithm either replaces gamma_t d by `went`,
/// x - y_E, or d by `direction`, d_0 + ... + d_E-1: then a change of the rate does not change the weights of old steps.
/// With E = 1, the default, both are those of the one step, without a y.
///
/// The state, and the x that is passed in, change when a round has been completed: it may be repeated until then.
/// Threads: actor-confined.
class local_steps {
public:
  explicit local_steps(const arguments& given);

  /// E
  std::uint64_t count() const noexcept { return rounds_.length; }
  bool begins_at(std::uint64_t t) const noexcept { return rounds_.begin_at(t); }
  std::uint64_t round_of(std::uint64_t t) const noexcept { return rounds_.round_of(t); }
  /// The last step of the round of step t: `algorithm::next_exchange`.
  std::uint64_t end_of_round(std::uint64_t t) const noexcept { return rounds_.last_of(t); }

  struct way {
    vec step; ///< x - y_E
    vec end;  ///< y_E; empty if E = 1
  };
  /// Takes the step t with gradient g at x, the y of this round.
  /// @param share of the rate
  /// @returns the whole way, if step t ends the round; x is still y_E-1 then
  std::optional<way> went(worker& w, vec& x, const vec& g, std::uint64_t t, float share = 1);
  std::optional<vec> direction(worker& w, vec& x, const vec& g, std::uint64_t t);
  /// Sets x back to the model with which the round began, for the update of all.
  void go_back(vec& x) {
    if (count() > 1)
      x = start_;
  }

  /// Makes the state of another worker within its round that of one that has taken no step in it: the other one brings
  /// its own steps.
  void inherit(vec& x, std::uint64_t t) {
    if (begins_at(t))
      return;
    x = start_;
    if (!sum_.empty())
      sum_ = zeros_like(sum_);
  }

  void fields(archive& a) {
    if (count() > 1)
      a(start_)(sum_);
  }

private:
  void move(worker& w, vec& x, const vec& d, std::uint64_t t, float share) const;

  step_rounds rounds_;
  vec start_;
  vec sum_; ///< of the directions, before the round's last step
};

/// `local-steps`, 1 by default.
parameter local_steps_parameter();

} // namespace gossamer::actors
