#pragma once

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"

#include <variant>

namespace gossamer::actors::detail {

/// The doors of a run, as a node that wants to join knows them, and what it is told there.
class door_search {
public:
  door_search(caf::scoped_actor& self, control_plane& control, const joining_settings& s);

  /// Of whoever leads the run, and lets this node in. That one is looked for at all doors in turn, for so long as the
  /// settings say: those behind them may be gone, know of nobody yet who leads, or not know yet that a place is free.
  /// @error not_let_in; errc::usage, and errc::failed where no certain place is wanted, as the leader refuses this node
  run_offer ask();
  /// Other doors of the same run, at which the place that this node was given is asked for.
  void search_elsewhere(const run_offer& given, std::chrono::milliseconds wait);

  /// Where the offer has come from, and who is behind that.
  const endpoint& where() const noexcept { return settings_.where; }
  const door_interface::handle& door() const noexcept { return door_; }
  /// Whether whoever is there sends the present message.
  bool is_heard() const;
  not_let_in lost() const;

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
  std::vector<endpoint> doors_; // as far as they are known
  door_interface::handle door_;
};

/// Of a node that is asked to end. @error which it ends with
[[noreturn]] void leave_interrupted();

} // namespace gossamer::actors::detail
