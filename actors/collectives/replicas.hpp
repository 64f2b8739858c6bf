#pragma once

#include "gossamer/actors/worker/worker.hpp"

#include <map>

namespace gossamer::actors {

/// A worker's copies of its neighbours' vectors, for algorithms that send only changes of their models.
///
/// For every neighbour j a worker holds a replica of a vector of j's: its model (DCD), or an estimate of it (ECD). The
/// owner holds one too. All of them change in the same way with the same message, C(z) included; so they are equal bit
/// for bit, which is claimed in every step:
///   r_j <- follow(r_j, C(z_j), n),   the n-th message since r_j was known exactly.
///
/// Messages of step t - 1 are awaited in step t, while the gradient is under way. Their labels carry n, and a message
/// is taken only as the n-th. A worker that counts another n than the owner gets nothing, rather than a biased
/// estimate.
///
/// Lost workers. A lost neighbour's replica is dropped, and the worker's own vector replaces it in the average. A view
/// begins with an exchange of exact models between all its neighbours: there may be new ones, and a neighbour that came
/// back is not the worker that was known. All workers do so in the same step, the first of the view. Messages of the
/// old view, which only some may have got, count no more. That needs no versions and no requests, for the price of one
/// message of D-PSGD. View 1 needs no exchange: all workers start from the same point. A run that goes on from a
/// checkpoint exchanges each worker's own replica, which equals those that the others would hold.
///
/// For algorithms that finish interrupted rounds (`interrupted_round::finish`).
/// Cost: deg(i) messages and deg(i) * bits(C) payload bits per step; deg(i) + 1 vectors of memory.
class replicas {
public:
  using rule = void (*)(vec& replica, const vec& q, std::uint64_t n);
  /// The rule of algorithms that send differences: r_j + C(z_j).
  static void add(vec& replica, const vec& q, std::uint64_t) { replica += q; }

  /// @param start   of all workers
  /// @param refresh steps between exchanges of exact models; 0: never
  replicas(vec start, rule follow, std::uint64_t refresh = 0)
      : own_(std::move(start)), follow_(follow), refresh_(refresh) {}

  /// Brings all replicas to the beginning of step t; to be awaited once in every step.
  /// @param x the exact model, for exchanges
  task<> catch_up(worker& w, const vec& x, std::uint64_t t);
  /// W_ii x + sum over neighbours j of W_ij r_j, in ascending order of j.
  vec mix(const worker& w, const vec& x) const;
  /// Number of messages since the last exact vectors, after `catch_up`.
  std::uint64_t age(std::uint64_t t) const noexcept { return t - exact_since_; }
  /// Sends C(z) to all neighbours, and follows it in this worker's own replica.
  void publish(worker& w, const vec& z, std::uint64_t t);

  /// The neighbours' replica of this worker, once they have got all its messages.
  const vec& own() const noexcept { return own_; }
  void fields(archive& a) { a(own_)(others_)(exact_since_)(view_); }

private:
  bool exchange_due(const worker& w, std::uint64_t t) const;
  task<> exchange(worker& w, std::uint64_t t);
  task<> follow_all(worker& w, std::uint64_t t);
  void claim(const worker& w, std::uint64_t t) const;

  vec own_;
  std::map<rank, vec> others_;
  std::uint64_t exact_since_ = 0; ///< step at whose beginning all replicas were exact
  std::uint32_t view_ = 1;        ///< view of these neighbours
  bool published_ = false;        ///< a message has been published since this object exists
  rule follow_;
  std::uint64_t refresh_;
};

} // namespace gossamer::actors
