#include "gossamer/actors/hosting/local_node.hpp"

namespace gossamer::actors {

local_node::local_node(caf::event_based_actor* owner, parts given) : owner_(owner), given_(std::move(given)) {
  roster_.incarnations.assign(given_.participants, 0);
  roster_.present.assign(given_.participants, true);
  for (const auto i : given_.absent)
    roster_.present[i] = false;
}

local_node::~local_node() {
  for (const auto& [i, one] : residents_)
    caf::anon_send_exit(one.actor, caf::exit_reason::user_shutdown);
}

void local_node::obey(const start_worker& m) {
  auto& one = residents_[m.who] = {given_.spawn(m.who, m.incarnation), m.incarnation, m.incarnation == 0 ? 1u : 0u};
  owner_->monitor(one.actor);
  if (pauses_[m.who] > 0)
    owner_->send(one.actor, pause_work{});
  if (begun_)
    owner_->send(one.actor, start_run{});
}

void local_node::obey(const begin_run&) {
  if (std::exchange(begun_, true))
    return;
  tell(meet_peers{shared_roster()});
  tell(start_run{});
}

void local_node::obey(const stop_worker& m) {
  if (const auto found = residents_.find(m.who); found != residents_.end())
    caf::anon_send_exit(found->second.actor, caf::exit_reason::kill);
}

/// Does not count the end of a pause that began before this process did.
void local_node::obey(const pause_worker& m) {
  auto& pauses = pauses_[m.who];
  const auto before = pauses;
  if (m.paused)
    ++pauses;
  else if (pauses > 0)
    --pauses;
  const auto found = residents_.find(m.who);
  if (found == residents_.end() || (before > 0) == (pauses > 0))
    return;
  m.paused ? owner_->send(found->second.actor, pause_work{}) : owner_->send(found->second.actor, resume_work{});
}

/// Begins the run first, if that has not been done: the decision may overtake a held-up `begin_run`, and workers that
/// do not run cannot follow a view.
void local_node::obey(const decision& m) {
  obey(begin_run{});
  for (rank i = 0; i < roster_.present.size(); ++i) {
    const auto found = m.view.lives.find(i);
    roster_.present[i] = found != m.view.lives.end();
    if (roster_.present[i])
      roster_.incarnations[i] = found->second;
  }
  const proceed_with plain{nullptr, nullptr, m.limit, m.save_at, m.parting};
  std::optional<proceed_with> all;
  for (auto& [i, one] : residents_) {
    const auto member = m.view.lives.find(i);
    if (member == m.view.lives.end() || member->second != one.incarnation)
      continue;
    const bool knows_it = std::exchange(one.view, m.view.number) == m.view.number;
    if (!knows_it && !all)
      all = proceed_with{given_.view_of(m.view), shared_roster(), m.limit, m.save_at, m.parting};
    owner_->send(one.actor, knows_it ? plain : *all);
  }
}

bool local_node::is_worker(rank i, const caf::strong_actor_ptr& actor) const {
  const auto found = residents_.find(i);
  return actor && found != residents_.end() && found->second.actor.address() == actor->address();
}

bool local_node::has_worker(const caf::strong_actor_ptr& actor) const {
  return std::ranges::any_of(residents_, [&](const auto& one) { return is_worker(one.first, actor); });
}

std::optional<worker_lost> local_node::died(const caf::down_msg& down) {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& one) { return one.second.actor.address() == down.source; });
  if (found == residents_.end())
    return std::nullopt;
  const worker_lost result{found->first, found->second.incarnation};
  residents_.erase(found);
  return result;
}

} // namespace gossamer::actors
