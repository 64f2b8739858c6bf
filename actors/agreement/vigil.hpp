#pragma once

#include "gossamer/actors/agreement/conflicts.hpp"
#include "gossamer/actors/agreement/delegate.hpp"
#include "gossamer/actors/agreement/failure_detector.hpp"

namespace gossamer::actors {

/// A node's watch over the others: which of them are silent, which do not reach each other, and which losses the leader
/// may not know of. It concludes; its owner believes that (`consensus::seats`) or tells the leader.
///
/// Every node watches the voters, and all nodes while it leads or asks for the lead: a node that does not answer must
/// not be waited for for ever. A node that was expelled is not listened to again in that life.
///
/// A protocol without actors and without a clock: its owner passes the time, from any origin. A value. Threads: as a
/// value. Costs: a look takes time for all nodes; nothing is sent.
class vigil {
public:
  using time = failure_detector::time;
  using node_number = consensus::node_number;
  using lives_of_ranks = std::map<rank, std::uint32_t>;

  /// The present state of the agreement, as this node knows it.
  struct outlook {
    const consensus::resolution& last;
    const consensus::seats& seats;
    bool asks = false;      ///< this node asks for the lead
    bool has_leader = true; ///< it knows of a voter that it does not suspect
  };
  struct suspicion {
    node_number node = 0;
    std::uint32_t life = 0;
    std::string why;
  };
  struct doubts {
    std::vector<node_number> of;              ///< the leader is to hear that this node does not reach these
    std::optional<node_number> is_taken_back; ///< the first node that goes on in another life
  };

  vigil(const consensus::charter& rules, node_number self, time patience);

  /// This node leads from now on. It settles which one is lost of two that do not reach each other.
  void lead() { conflicts_.emplace(self_, 2 * detector_.patience()); }
  /// Another node leads from now on.
  void follow() { conflicts_.reset(); }

  /// Takes in a sign of life. @returns true if this node must believe now that the other is well
  bool hear(node_number n, const consensus::seats& s, time now);
  /// Takes in, while this node leads, that node `by` does not reach node `about`. One of them may have just come back:
  /// what it says may be about the time before, and it is given its patience to reach the others, which complain again.
  void complain(node_number by, node_number about, const std::string& why, time now);
  /// A node is lost: whatever is known about it is old.
  void forget(node_number n);
  void expel(node_number n, std::uint32_t life) { expelled_[n] = life; }
  bool has_expelled(node_number n, std::uint32_t life) const;

  /// Returns the nodes to be suspected from now on. Look several times a second.
  std::vector<suspicion> suspects(const outlook& known, time now);
  /// Returns the suspected nodes without which the run goes on: the leader loses them.
  std::vector<suspicion> left_out(const outlook& known) const;
  /// Doubts losses that a leader elsewhere does not see: not a process but a connection has ended, and frames to that
  /// node are not sent any more. The leader hears of it as of two nodes that do not reach each other, and leaves one
  /// out. When that is taken back, in other lives, the two meet again.
  doubts doubt(const outlook& known, time now);
  /// True if so many voters are lost that no leader can be elected any more.
  bool lacks_quorum(const outlook& known) const;
  /// True if every voter has been suspected for longer than the patience.
  bool lacks_leader(const outlook& known, time now);
  /// True if a worker or master of this node is among these members.
  bool has_members(node_number n, const lives_of_ranks& members) const;

private:
  struct loss {
    time since{};
    lives_of_ranks lives; ///< members when it began
  };

  bool is_just_back(node_number n, time now) const;
  void choose_whom_to_watch(const outlook& known, time now);
  bool has_begun_anew(node_number n, const lives_of_ranks& before, const lives_of_ranks& now) const;

  node_number self_;
  std::vector<std::vector<rank>> ranks_; ///< of each node
  failure_detector detector_;
  std::optional<conflicts> conflicts_; ///< those that this leader hears of
  std::uint32_t resolution_ = 0;       ///< number of the last one at the last look
  std::map<node_number, std::string> reasons_;
  std::map<node_number, time> back_since_;        ///< when a node that was not well was heard again
  std::map<node_number, loss> losses_;            ///< of nodes with which the run may go on
  std::map<node_number, std::uint32_t> expelled_; ///< last expelled life of each; those before are, too
  std::optional<time> alone_since_;               ///< since when all voters are suspected
};

} // namespace gossamer::actors
