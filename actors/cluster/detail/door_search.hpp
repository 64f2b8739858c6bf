#pragma once

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include <chrono>
#include <optional>
#include <variant>

namespace gossamer::actors::detail {

/// A node that has prepared the run is not let in. It may ask again.
class sent_on : public not_let_in {
public:
  /// The run has no place any more for this node. @param leader its door
  explicit sent_on(endpoint leader)
      : not_let_in{errc::failed, "the run has no place any more for this node, which has prepared it",
                   "join again: another place may be free"},
        doors_{std::move(leader)} {}
  /// The leader is lost. @param doors of the others; at least one @param longest time that they need for another leader
  sent_on(const not_let_in& why, std::vector<endpoint> doors, std::chrono::milliseconds longest)
      : not_let_in{why}, doors_(std::move(doors)), longest_(longest) {}

  joining_settings settings_to_ask_again(const joining_settings& s) const;

private:
  std::vector<endpoint> doors_;
  std::optional<std::chrono::milliseconds> longest_;
};

/// The search for a way into a run: the doors that a joining node knows, and the answers it gets there.
class door_search {
public:
  door_search(caf::scoped_actor& self, control_plane& control, const joining_settings& s);

  /// Returns the offer of the leader that lets this node in. Asks at all doors in turn, for so long as the settings
  /// say: the nodes behind them may be gone, know no leader yet, or not know yet that a place is free.
  /// @error not_let_in; errc::usage, and errc::failed where no certain place is wanted, as the leader refuses this node
  run_offer ask();
  /// Turns to other doors of the same run, to ask for the place that this node was given.
  void search_elsewhere(const run_offer& given, std::chrono::milliseconds wait);

  /// The door that the offer has come from, and the actor behind it.
  const endpoint& where() const noexcept { return settings_.where; }
  const door_interface::handle& door() const noexcept { return door_; }
  /// True if the present message comes from behind that door.
  bool is_heard() const;
  not_let_in lost() const;
  /// Throws the loss of the leader before it has let this node in.
  /// @error sent_on to the other nodes of a run that was under way; else `lost`
  [[noreturn]] void throw_loss() const;

private:
  using answer = std::variant<run_offer, ask_there>;

  run_offer ask_at(endpoint where);
  door_interface::handle connected() const;
  answer answer_at_door();
  [[noreturn]] void throw_refusal(const run_failed& why) const;
  std::chrono::milliseconds patience() const;

  caf::scoped_actor& self_;
  control_plane& control_;
  joining_settings settings_;   // `where`: the door that was asked last
  std::vector<endpoint> doors_; // those that are known
  door_interface::handle door_;
  std::vector<endpoint> others_; // doors of other nodes than the leader, of a run that is under way
};

/// Ends a node that is asked to end. @error the one that it ends with
[[noreturn]] void leave_interrupted();

} // namespace gossamer::actors::detail
