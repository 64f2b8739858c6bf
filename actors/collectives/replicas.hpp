#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <map>

namespace gossamer::actors {

/// What each worker knows of its neighbours where models do not travel, only messages that say how they change.
///
/// For every neighbour j a worker holds a replica of a vector of j's: its model (DCD), or an estimate of it (ECD). The
/// owner holds one too, and all of them do the same with the same message, C(z) included; so they are equal bit for
/// bit, which is claimed in every step:
///   r_j <- follow(r_j, C(z_j), n),   the n-th message since r_j was known exactly.
///
/// Messages of step t - 1 are awaited in step t, while the gradient is under way. Their labels carry n, and they are
/// taken only as the n-th: who follows with another n than the owner gets nothing, rather than a biased estimate.
///
/// Lost workers. A lost neighbour's replica is dropped, and in the average stands the worker's own vector instead. A
/// view begins with an exchange of exact models between all its neighbours: there may be new ones among them, and one
/// that came back is not the one that its neighbours knew. All do so in the same step, the first of the view, and the
/// messages of the old view, which some may have got and others not, count no more. That needs no versions and no
/// requests, for the price of one message of D-PSGD. View 1 needs no exchange: all start from the same point. A run
/// that was saved as a whole and goes on exchanges what each worker holds of itself, which is what the others would
/// hold of it.
///
/// For algorithms that finish interrupted rounds (`interrupted_round::finish`).
/// Cost: deg(i) messages and deg(i) * bits(C) payload bits per step; deg(i) + 1 vectors of memory.
class replicas {
public:
  using rule = void (*)(vec& replica, const vec& q, std::uint64_t n);

  /// @param start   of everybody
  /// @param refresh exact models are exchanged again after so many steps; 0: never
  replicas(vec start, rule follow, std::uint64_t refresh = 0)
      : own_(std::move(start)), follow_(follow), refresh_(refresh) {}

  /// To be awaited once in every step: from then on all replicas are as of the beginning of step t.
  /// @param x the exact model, for those who must be told
  task<> catch_up(worker& w, const vec& x, std::uint64_t t);
  /// W_ii x + sum over neighbours j of W_ij r_j, in ascending order of j.
  vec mix(const worker& w, const vec& x) const;
  /// How many messages have followed the exact vectors, after `catch_up`.
  std::uint64_t age(std::uint64_t t) const noexcept { return t - exact_since_; }
  /// Sends C(z) to all neighbours, and follows it here.
  void publish(worker& w, const vec& z, std::uint64_t t);

  /// The replica that the neighbours hold of this worker, as soon as they have got what was sent.
  const vec& own() const noexcept { return own_; }
  void fields(archive& a) { a(own_)(others_)(exact_since_)(view_); }

private:
  bool exchange_due(const worker& w, std::uint64_t t) const;
  task<> exchange(worker& w, std::uint64_t t);
  task<> follow_all(worker& w, std::uint64_t t);
  void claim(const worker& w, std::uint64_t t) const;

  vec own_;
  std::map<rank, vec> others_;
  std::uint64_t exact_since_ = 0; ///< the step at whose beginning all replicas were the models themselves
  std::uint32_t view_ = 1;        ///< whose neighbours' replicas these are
  bool published_ = false;        ///< something, since this object exists
  rule follow_;
  std::uint64_t refresh_;
};

} // namespace gossamer::actors
