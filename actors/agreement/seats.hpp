#pragma once

#include "gossamer/actors/protocol/resolution.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors::consensus {

/// This node's belief about another node. Wrong beliefs cost time, never the agreement.
struct health {
  enum class state : std::uint32_t { well, suspected, gone };
  node_number node = 0;
  std::uint32_t life = 0;
  /// A suspected node is not waited for. It may live, so it keeps its vote. The leader of a newly learnt resolution
  /// counts as well until it is suspected again, which takes a patience from then on. A node that is gone has certainly
  /// ended, or was left out because it was silent; it loses its vote with the next resolution.
  state is = state::well;

  friend bool operator==(const health&, const health&) = default;
};

/// A seat that is kept for a process that prepares the run, and the life that it begins when it is admitted.
struct candidacy {
  node_number node = 0;
  std::uint32_t life = 0;

  friend bool operator==(const candidacy&, const candidacy&) = default;
};

/// The seats of a run, one for each node: the process that holds it, its addresses, and its health. Every process has
/// this table once. Its protocol, its choice of peers, its status reports, and its data plane read it.
///
///     free --keep--> kept for a candidate --admit--> taken by another life: well <--> suspected --> gone: free again
///       ^                  | release                          ^
///       +------------------+          adopt (a resolution) ---+
///
/// The nodes agree on the holders of seats: lives and addresses come from resolutions, and, before the one that says
/// so, from admissions. A candidate changes nothing until it is admitted. The process that it is to replace may merely
/// be silent: if that process is heard and agreed on again, it has the seat as before, even where another one has been
/// admitted meanwhile. A resolution that merely does not know of a later life yet takes nothing from that life.
///
/// The life of a candidate is unique in the whole run, without a list of former lives: it is made of the number of the
/// resolution that elected the leader, which no other leader shares, and of a count under it. It is therefore also
/// higher than any life that was given before.
///
/// A value. Threads: as a value. Costs: memory for each seat; nothing is sent.
class seats {
public:
  struct seat {
    process by;                          ///< the newest life that this process has heard of
    bool taken = false;                  ///< false: no process has come yet
    std::optional<std::uint32_t> agreed; ///< the life that the last resolution names
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

  /// Takes in an observation of a process. Ignores one of a former life.
  /// @returns true if it is news
  bool believe(const health& h);
  /// Takes in a node's own statement of its life and addresses, from its answer to a question of the leader.
  void meet(node_number n, const process& p);
  /// Takes in a resolution that is newer than all adopted before. @returns the nodes with a new life or address
  std::vector<node_number> adopt(const resolution& r);

  // -- for the leader -------------------------------------------------------------------------------------------------

  /// Keeps a free seat.
  /// @param wanted the only seat that will do; `nullopt`: the first free one
  /// @param by the number of the last resolution, by which this process leads
  /// @returns `nullopt` if no seat is free, or too many have asked under this resolution
  std::optional<candidacy> keep(std::optional<node_number> wanted, std::uint32_t by);
  /// Frees the seat of a candidate that has died or was refused.
  void release(const candidacy& c);
  /// Admits a process that has prepared the run. Also accepts one that an earlier leader admitted before it died
  /// without agreement.
  /// @returns false if the seat is taken, or kept for a later candidate
  bool admit(node_number n, const process& p);

  /// Limit under one resolution. A process that asks again and again must not reach the lives of later resolutions.
  static constexpr std::uint32_t most_candidates = 1u << 10;
  /// True if a life may have been given under this resolution, or before it.
  static bool may_exist(std::uint32_t life, std::uint32_t resolution) { return life / most_candidates <= resolution; }

  friend bool operator==(const seats&, const seats&) = default;

private:
  void take(node_number n, const process& p);
  bool is_free(const seat& s) const { return s.is == health::state::gone && s.kept_for == 0; }

  std::vector<seat> all_;
  std::uint32_t by_ = 0, kept_ = 0; // `kept_` seats were kept under resolution `by_`

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
