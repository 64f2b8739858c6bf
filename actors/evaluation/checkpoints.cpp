#include "gossamer/actors/evaluation/checkpoints.hpp"

namespace gossamer::actors {

bool checkpoints::due(double time_s, std::uint64_t updates, const membership& members) {
  if (!members.masters_are_ready())
    return false;
  const auto& every = run_->settings.checkpoint;
  const bool is_awaited = ordered_ || is_being_written();
  if (is_awaited && time_s < began_s_ + wait_s_)
    return false;
  const bool now = every.seconds > 0 ? time_s >= next_s_ + every.seconds
                                     : updates >= next_updates_ + every.steps * run_->settings.workers;
  if (!now)
    return false;
  wait_s_ = is_awaited ? 2 * wait_s_ : first_wait_s;
  ordered_ = true;
  lost_master_ = false;
  began_s_ = next_s_ = time_s;
  next_updates_ = updates;
  return true;
}

void checkpoints::open(std::uint64_t number, const membership& members) {
  ordered_ = lost_master_ = false;
  last_ = number;
  auto& one = open_[number];
  one.whole.checkpoint = number;
  one.whole.workers = run_->settings.worker_ranks();
  one.whole.masters = run_->masters;
  for (const auto i : members.living())
    if (members.ready(i))
      one.missing.insert(i);
}

std::optional<manifest> checkpoints::add(const part_saved& m, const membership& members, const ledger& seen,
                                         double time_s) {
  if (m.checkpoint > last_)
    open(m.checkpoint, members);
  const auto one = open_.find(m.checkpoint);
  if (one == open_.end() || one->second.missing.erase(m.source) == 0)
    return std::nullopt;
  heard_s_ = time_s;
  auto& whole = one->second.whole;
  whole.parts[m.source] = m.part;
  if (!one->second.missing.empty())
    return std::nullopt;
  whole.time_s = time_s;
  whole.former_gradients = seen.former_steps();
  whole.former_sent = seen.former_sent();
  whole.steps = run_->steps_of(whole);
  whole.samples = run_->samples_of(whole);
  return whole;
}

std::vector<std::uint64_t> checkpoints::lose(rank i) {
  lost_master_ = lost_master_ || (ordered_ && run_->is_master(i));
  std::vector<std::uint64_t> given_up;
  for (const auto& [number, one] : open_)
    if (one.missing.contains(i) || run_->is_master(i))
      given_up.push_back(number);
  for (const auto number : given_up)
    open_.erase(number);
  return given_up;
}

bool checkpoints::fail(std::uint64_t number) {
  if (number <= last_)
    return open_.erase(number) > 0;
  last_ = number; // its first news is bad
  ordered_ = lost_master_ = false;
  return true;
}

void checkpoints::complete(std::uint64_t number) {
  open_.erase(open_.begin(), open_.upper_bound(number)); // older ones will not be wanted
}

} // namespace gossamer::actors
