#pragma once

#include "gossamer/actors/collectives/member_group.hpp"

#include <optional>

namespace gossamer::actors {

/// Returns the mean of all members' vectors as the run's codec C delivers it: the same bits on every member.
///
/// The vector is cut into M segments, and member k owns segment k (ring.hpp). Each worker sends C of its segment k to
/// its owner, which takes the mean of what M packets deliver, its own included, in the order of the members. Then it
/// sends C of the mean to all others; it keeps what that packet delivers, as they do:
///
///   segment k of the result = C((1/M) sum_i C(segment k of v_i))
///
/// Each value is rounded twice on its way, however many members there are, and nothing is kept of the error. All
/// workers send before they wait, so that no cycle of waiting can form.
///
/// Cost: 2 (M - 1) messages and 2 (M - 1) / M bits(C) payload bits sent by each member, in two hops. (A ring all-gather
/// of whole packets sends (M - 1) bits(C), and rounds once.) When a member is lost, the others repeat the round, as in
/// `all_reduce`, and for the same algorithms.
/// @param t names the round; unique among the rounds of a run
task<vec> packed_mean_of_all(worker& w, const vec& v, std::uint64_t t);

/// One attempt, among these members; `nullopt` if their view ends first: see `try_all_gather`.
task<std::optional<vec>> try_packed_mean(worker& w, member_group among, vec v, std::uint64_t t);

/// Packed means whose errors are kept, and sent with the next one (error feedback at both ends):
///
///   worker    b = v_i + e_i,            sends C(b),    e_i = b - C(b)
///   owner     c = (1/M) sum_i C(b) + f, sends C(c),    f = c - C(c), of its segment
///
/// so that the sum of all means, f and the mean of e are that of all v (Tang, Yu, Lian, Zhang, Liu: DoubleSqueeze, ICML
/// 2019, algorithm 1). When the members change, segments do: M f goes to the owner's e, where it weighs as much. C must
/// be a contraction, |v - C(v)| < |v|.
class fed_back_mean {
public:
  /// All v have one size. Cost as `packed_mean_of_all`; a worker alone sends and loses nothing.
  task<vec> of_all(worker& w, const vec& v, std::uint64_t t);
  /// What is kept back, in units of v; empty before the first round.
  vec residual() const { return e_ + static_cast<float>(members_) * f_; }
  /// Adds what another worker kept back. @param residual of the size of v
  void take_over(const vec& residual);
  /// Begins anew, in whatever place: what is kept, and of which members, belonged to another worker.
  void forget() {
    e_ = f_ = vec{};
    members_ = view_ = 0;
  }
  void fields(archive& a) { a(e_)(f_)(members_)(view_); }

private:
  void hand_to_worker();

  vec e_;
  vec f_;                     ///< 0 outside of this worker's segment
  std::uint64_t members_ = 0; ///< M, when f was made
  std::uint64_t view_ = 0;    ///< in which it was made; 0: in none yet
};

} // namespace gossamer::actors
