#pragma once

#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/base/archive.hpp"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// The workers to which one sends in a step, and those from which it receives.
struct one_way_peers {
  std::vector<rank> to, from;
};

/// Means over one-way links: each worker has a vector x_i and a weight w_i, 1 at first, and pushes shares of both.
///
///   x_i <- sum_j P_ij x_j,   w_i <- sum_j P_ij w_j,   z_i = x_i / w_i
///
/// P_ji = 1 / (1 + number of receivers) for each receiver j and for the sender i itself: columns sum to 1, and so the
/// sums over all workers of x and of w stay as they are, whatever the codec loses: the sender gives away what arrives.
/// Kempe, Dobra, Gehrke: Gossip-based computation of aggregate information, FOCS 2003.
///
/// With an overlap of tau a step does not wait for its own shares, but for those of tau steps before. All arrive in the
/// step where they are due, none earlier, so that a run is a function of its seed. A share under way counts as its
/// sender's. With `drop` a share stays with its sender, with this probability; both ends draw the same numbers, and it
/// costs no bits.
///
/// Shares for a worker that is known to be lost are kept; those under way are lost with it, x and w in the same ratio.
/// In a new view all begin anew with x_i = z_i and w_i = 1, and what is under way counts no more. A state has the
/// shares that the worker has under way: a run that goes on sends them once more.
///
/// Cost: bits(C) + 32 payload bits in two messages for each receiver; with an overlap of tau, tau more vectors.
/// Threads: actor-confined.
class push_sum {
public:
  using peers_in_step = std::function<one_way_peers(const worker& w, std::uint64_t t)>;

  push_sum(const vec& initial, peers_in_step peers, float drop, std::uint64_t overlap)
      : x(initial), z_(initial), peers_(std::move(peers)), drop_(drop), overlap_(overlap) {}

  vec x; ///< to be changed between two pushes, at z

  /// z, as of the last push.
  const vec& model() const noexcept { return z_; }

  /// Sends again what a state has under way. Called once, before the step t with which a run begins or goes on.
  void go_on(worker& w, std::uint64_t t);
  /// Called at the beginning of each step.
  void enter_view(const worker& w);
  void begin_anew();
  /// The push of step t. Suspends until the shares that are due are there.
  task<> push(worker& w, std::uint64_t t);
  /// Adds what is under way before step t to z, and not to the state: a run that goes on does not begin at its end.
  task<> await_rest(worker& w, std::uint64_t t);

  void fields(archive& a);

private:
  using weighed = std::pair<vec, double>;                    ///< a vector, and its weight
  using sent_shares = std::pair<std::vector<rank>, weighed>; ///< receivers, and the share of each: z and its weight

  std::uint64_t oldest_under_way(const worker& w, std::uint64_t t) const;
  tag share_of(const worker& w, std::uint64_t t, std::uint32_t part) const;
  bool is_dropped(const worker& w, rank from, rank to, std::uint64_t t) const;
  weighed with_shares_under_way() const;
  bool give(worker& w, std::uint64_t t);
  task<bool> take(worker& w, std::uint64_t t, vec& x_into, double& w_into);
  void take_back(std::uint64_t step, std::span<const rank> receivers);

  vec z_;
  double w_ = 1;
  std::uint32_t view_ = 0;
  bool whole_ = true; ///< as far as this worker has seen, w sums to the number of members since the view began
  std::map<std::uint64_t, sent_shares> under_way_; ///< by the step that sent them
  peers_in_step peers_;
  float drop_;
  std::uint64_t overlap_; ///< tau
};

} // namespace gossamer::actors
