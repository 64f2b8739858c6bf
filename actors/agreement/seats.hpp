#pragma once

#include "gossamer/actors/protocol/resolution.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors::consensus {

/// What this node believes of another one. Wrong beliefs cost time, never the agreement.
struct health {
  enum class state : std::uint32_t { well, suspected, gone };
  node_number node = 0;
  std::uint32_t life = 0;
  /// Who is suspected is not waited for, but may live: it keeps its vote. Who leads by a resolution that is
  /// news is well until it is suspected again, which takes a patience from then on. Who is gone has certainly ended,
  /// or was left out because it was silent; it loses its vote with the next resolution.
  state is = state::well;

  friend bool operator==(const health&, const health&) = default;
};

/// A seat that is kept for a process that prepares the run, and the life that it begins when it is admitted.
struct candidacy {
  node_number node = 0;
  std::uint32_t life = 0;

  friend bool operator==(const candidacy&, const candidacy&) = default;
};

/// One seat for each node of a run: who has it, where that is, and how it is. Every process has this table once; what
/// it does, whom it speaks to, what it tells of the run, and its data plane read it.
///
///     free --keep--> kept for a candidate --admit--> taken by another life: well <--> suspected --> gone: free again
///       ^                  | release                          ^
///       +------------------+          adopt (a resolution) ---+
///
/// Who has a seat is agreed on: lives and addresses come from resolutions, and, before the one that says so, from who
/// is admitted. A candidate changes nothing until then. Whoever it is to replace may merely be silent: if that one is
/// heard again, and agreed on anew, it has the seat as before, also where somebody else has been admitted meanwhile. A
/// resolution that merely has not heard of a later life yet takes nothing from that.
///
/// The life of a candidate is unique in the whole run, without a book of former lives: it is made of the number of the
/// resolution by which the leader was elected, which no other leader shares, and of a count under it. So it is also
/// higher than any life that was given before.
///
/// A value. Threads: as a value. Costs: memory for each seat; nothing is sent.
class seats {
public:
  struct seat {
    process by;                          ///< the newest life that this process has heard of
    bool taken = false;                  ///< or nobody has come yet
    std::optional<std::uint32_t> agreed; ///< the life of which the last resolution speaks
    health::state is = health::state::gone;
    std::uint32_t kept_for = 0; ///< the life of a candidate; 0: it is not kept

    friend bool operator==(const seat&, const seat&) = default;
  };

  explicit seats(node_number places) : all_(places) {}

  const seat& operator[](node_number n) const { return all_[n]; }
  node_number size() const noexcept { return static_cast<node_number>(all_.size()); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  bool is_well(node_number n, std::uint32_t life) const {
    return all_[n].is == health::state::well && all_[n].by.life == life;
  }
  bool is_gone(node_number n) const { return all_[n].is == health::state::gone; }

  /// What has been seen of a process. Of a former life it says nothing.
  /// @returns whether it is news
  bool believe(const health& h);
  /// It has said so itself: an answer to a question of the leader.
  void meet(node_number n, const process& p);
  /// What has been resolved, after all that was adopted before. @returns whose life or address is another one now
  std::vector<node_number> adopt(const resolution& r);

  // -- the leader's ----------------------------------------------------------------------------------------------------

  /// Keeps a free seat.
  /// @param wanted the only one that will do; nothing: the first that is free
  /// @param by the number of the last resolution, by which this process leads
  /// @returns nothing when no seat is free, or too many have asked under this resolution
  std::optional<candidacy> keep(std::optional<node_number> wanted, std::uint32_t by);
  /// The candidate has died, or was refused.
  void release(const candidacy& c);
  /// It has prepared the run. Also one that was admitted by a leader that has died before it could be agreed on.
  /// @returns false when the seat is taken, or kept for a later one
  bool admit(node_number n, const process& p);

  /// Under one resolution. A process that asks again and again must not come to lives of later ones.
  static constexpr std::uint32_t most_candidates = 1u << 10;
  /// Whether a life may have been given under this resolution, or before it.
  static bool may_exist(std::uint32_t life, std::uint32_t resolution) { return life / most_candidates <= resolution; }

  friend bool operator==(const seats&, const seats&) = default;

private:
  void take(node_number n, const process& p);
  bool is_free(const seat& s) const { return s.is == health::state::gone && s.kept_for == 0; }

  std::vector<seat> all_;
  std::uint32_t by_ = 0, kept_ = 0; // so many under that resolution

public:
  template <class Inspector>
  friend void inspect(Inspector& f, seat& s) {
    bool is_agreed = s.agreed.has_value();
    auto life = s.agreed.value_or(0);
    f(s.by, s.taken, s.is, s.kept_for, is_agreed, life);
    s.agreed = is_agreed ? std::optional{life} : std::nullopt;
  }
  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, seats& s) {
    return f(s.all_, s.by_, s.kept_);
  }
};

} // namespace gossamer::actors::consensus
