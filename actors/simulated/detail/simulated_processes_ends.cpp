// The ends of processes of a simulated run, and what must hold then.
#include "gossamer/actors/simulated/detail/simulated_processes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

using start = control_network::start;

constexpr auto longest_farewell = std::chrono::seconds(5); // as in clusters

} // namespace

/// Returns the numbers of processes whose node takes part.
std::vector<std::uint32_t> simulated_processes::numbers() const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t number = 0; number < seats_.size(); ++number)
    if (newest(number).runs)
      result.push_back(number);
  return result;
}

void simulated_processes::end(start who) {
  auto& one = processes_[who];
  one.runs = false;
  net_.kill(who);
  if (seats_[one.number].newest == who)
    planes_.end(one.number);
  for (const auto& actor : {one.node, one.newcomer, one.connector})
    if (actor)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
}

void simulated_processes::end() {
  over_ = true;
  for (start who = 0; who < processes_.size(); ++who)
    end(who);
}

void simulated_processes::on_fault(std::size_t index, const fault& f, bool on) {
  if (f.kind == fault_kind::partition && !on)
    net_.flush();
  if (!f.strikes_processes())
    return;
  if (!on) {
    for (const auto number : victims_[index])
      bring_back(number);
    victims_.erase(index);
    return;
  }
  for (const auto number : victims_[index] = victims_of(f))
    if (f.kind == fault_kind::kill)
      kill(number);
    else if (f.kind == fault_kind::leave)
      ask_to_leave(number);
    else
      start_again(number, 0);
  fail_when_nobody_is_left();
}

/// Returns the processes that are there when a fault begins; for a join, those that are not. A process that is away
/// already is no victim of a second fault: only the end of the first one is to bring it back.
std::vector<std::uint32_t> simulated_processes::victims_of(const fault& f) const {
  std::vector<std::uint32_t> result;
  const auto add = [&](std::uint32_t number) {
    const bool is_there = net_.is_alive(seats_[number].newest);
    if (is_there == (f.kind != fault_kind::join) && std::ranges::find(result, number) == result.end())
      result.push_back(number);
  };
  if (!f.coordinators) {
    for (const auto i : named_workers(f, around_.homes.size(), around_.workers_per_node))
      add(around_.homes[i]);
    return result;
  }
  add(newest_resolution_.leader);
  for (const auto voter : newest_resolution_.voters)
    add(voter);
  result.resize(std::min<std::size_t>(result.size(), *f.coordinators));
  return result;
}

void simulated_processes::kill(std::uint32_t number) { end(seats_[number].newest); }

void simulated_processes::ask_to_leave(std::uint32_t number) {
  auto& one = processes_[seats_[number].newest];
  if (!one.runs)
    return kill(number); // it has not been let in yet, and has nothing to hand over
  one.leaves = true;
  caf::anon_send(one.node, leave_request{});
}

/// Starts a process again. One that is about to leave does so first.
void simulated_processes::bring_back(std::uint32_t number) {
  if (!net_.is_alive(seats_[number].newest))
    start_again(number, 0);
  else if (newest(number).leaves)
    processes_[seats_[number].newest].returns = true;
}

void simulated_processes::on_departure(const caf::strong_actor_ptr& node) {
  const auto who = start_of(node);
  if (!who || over_)
    return;
  const auto number = processes_[*who].number;
  around_.tell(fmt::format("node {} leaves", number));
  end(*who);
  if (processes_[*who].returns)
    start_again(number, 0);
}

void simulated_processes::on_failure(const caf::strong_actor_ptr& node, const run_failed& why) {
  const auto who = start_of(node);
  if (!who)
    return;
  judge(processes_[*who], why);
  around_.tell(fmt::format("node {} ends: {}", processes_[*who].number, why.sentence));
  last_failure_ = why;
  around_.at(later(around_.now(), longest_farewell), [this, who = *who] {
    if (!over_ && net_.is_alive(who))
      end(who);
  });
}

void simulated_processes::on_exit(start who, const caf::error& reason) {
  if (over_)
    return;
  if (reason == caf::sec::runtime_error)
    around_.complain(fmt::format("the node of process {} has failed", processes_[who].number));
  if (net_.is_alive(who))
    end(who);
  fail_when_nobody_is_left();
}

void simulated_processes::fail_when_nobody_is_left() {
  if (!over_ && numbers().empty())
    around_.fail(last_failure_);
}

// -- conditions that must hold ----------------------------------------------------------------------------------------

bool simulated_processes::has_quorum(const consensus::resolution& r) const {
  std::set<std::uint32_t> there;
  for (const auto voter : r.voters)
    if (const auto& one = newest(voter); one.runs && r.votes(voter, one.life))
      there.insert(voter);
  return r.elected_by(there);
}

/// Complains of a process that gives up long after the last fault, though it can agree with others.
void simulated_processes::judge(const process& who, const run_failed& why) {
  const auto long_quiet = later(around_.quiet_since(), 3 * around_.patience);
  if (why.code == errc::failed && why.sentence != extinction().sentence && around_.now() > long_quiet
      && has_quorum(who.last))
    around_.complain(
        fmt::format("node {} gives up though most of those are there that vote: {}", who.number, why.sentence));
}

} // namespace gossamer::actors::detail
