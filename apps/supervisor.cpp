#include "gossamer/apps/detail/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr double short_life_s = 1;                     // a process that ends so soon would do so again
constexpr double longest_succession_s = 10;            // after a death has been noticed
constexpr double longest_silent_end_s = 20;            // beyond the patience: a leader that ends may wait for its disk
constexpr std::size_t least_that_outlive_a_leader = 3; // in a run of two, the survivor cannot know that it is alone
constexpr std::size_t most_last_words = 500;
constexpr int killed = 128;          // plus the number of the signal: a status
constexpr int first_of_shells = 126; // statuses with which a shell says that a program has not run
constexpr int of_ssh = 255;          // it has not reached the host, or has lost it

/// True for a signal that leaves a process no time for last words.
bool is_killed(int status) {
  const int signal = status - killed;
  return signal > 0 && signal < NSIG && signal != SIGINT && signal != SIGTERM && signal != SIGHUP;
}

bool is_speechless(int status) {
  return status >= first_of_shells && (status <= killed || status == of_ssh || is_killed(status));
}

} // namespace

std::string described_end(int status, const std::string& last_words) {
  if (is_killed(status))
    return fmt::format("was killed by signal {} ({})", status - killed, strsignal(status - killed));
  return last_words.empty() ? fmt::format("ended with status {} and without a word", status)
                            : fmt::format("ended with status {}: {}", status, last_words.substr(0, most_last_words));
}

supervisor::supervisor(rules r) : rules_(std::move(r)), slots_(rules_.hosts.size()) {}

std::string supervisor::name_of(std::size_t slot) const {
  return fmt::format("node {} on {}", slot, rules_.hosts[slot]);
}

supervisor::orders supervisor::begin(double now_s) {
  orders out;
  start(0, {}, now_s, out);
  return out;
}

// -- announcements of a process ---------------------------------------------------------------------------------------

supervisor::orders supervisor::on_lead(std::size_t slot, const std::string& door, double now_s) {
  orders out;
  on_door(slot, door);
  leaderless_.reset();
  leads_ = slot;
  slots_[slot].has_led = true;
  on_words(slot, now_s);
  if (interrupted_ != 0)
    tell_to_end(slot, interrupted_, out);
  else if (!std::exchange(others_started_, true))
    for (std::size_t k = 0; k < slots_.size(); ++k)
      if (k != slot)
        start(k, {door}, now_s, out);
  return out;
}

void supervisor::on_door(std::size_t slot, const std::string& door) {
  slots_[slot].door = door;
  slots_[slot].takes_part = true;
}

void supervisor::on_words(std::size_t slot, double now_s) {
  if (slot == leads_)
    heard_s_ = now_s;
}

void supervisor::on_begin() { begun_ = true; }

void supervisor::on_refusal(std::size_t slot) { slots_[slot].is_refused = true; }

void supervisor::on_departure(std::size_t slot) { slots_[slot].has_left = true; }

void supervisor::on_survival(const std::string& folder) { survivors_.push_back(folder); }

// -- ends and beginnings ----------------------------------------------------------------------------------------------

supervisor::orders supervisor::on_end(std::size_t slot, int status, const std::string& last_words, double now_s) {
  orders out;
  auto& s = slots_[slot];
  s.runs = s.takes_part = false;
  s.status = status;
  s.last_words = last_words;
  s.ended_s = now_s;
  if (std::exchange(s.is_refused, false) && std::exchange(s.is_restart, false)) {
    --restarts_;
    --s.restarts;
    if (!over_)
      out.emplace_back(tell{slot, "was not let in, which does not count as a restart"});
  } else if (begun_ && is_killed(status)) {
    out.emplace_back(tell{slot, described_end(status, {}) + (s.has_led ? "; it has led the run" : "")});
  }
  if (slot == leads_ && !leaderless_)
    leaderless_ = leader_end{.status = status, .last_words = last_words, .has_left = s.has_left, .at_s = now_s};
  const bool can_start = begun_ || (is_killed(status) && restarts_ < rules_.restarts);
  if (slot != leads_ && !can_start && status != 0 && slots_[leads_].runs && interrupted_ == 0)
    give_up(slot, now_s, out);
  over_ = over_ || is_over_at(now_s);
  return out;
}

supervisor::orders supervisor::on_interrupt(int signal, double now_s) {
  orders out;
  if (std::exchange(interrupted_, signal) != 0)
    return out;
  heard_s_ = now_s;
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (k == leads_ || !begun_) // the leader does not know those that have not come
      tell_to_end(k, signal, out);
  return out;
}

supervisor::orders supervisor::on_time(double now_s) {
  orders out;
  over_ = over_ || is_over_at(now_s);
  const bool shall_end = !over_ && !leaderless_ && (interrupted_ != 0 || given_up_);
  if (shall_end && now_s - heard_s_ > rules_.patience_s + longest_silent_end_s)
    end_without_leader(now_s, out);
  for (std::size_t k = 0; k < slots_.size() && !over_; ++k)
    if (comes_back(slots_[k]))
      start_again(k, now_s, out);
  return out;
}

/// Before the run has begun, only a process that was killed is started again: one that was refused or could not be
/// started would fail again.
bool supervisor::comes_back(const slot_state& s) const {
  const bool may = begun_ || (s.status && is_killed(*s.status) && &s != &slots_[leads_]);
  return may && !s.runs && s.status && *s.status != 0 && !s.has_left && interrupted_ == 0 && !given_up_
         && restarts_ < rules_.restarts;
}

void supervisor::start(std::size_t slot, std::vector<std::string> doors, double now_s, orders& out) {
  auto& s = slots_[slot];
  s.runs = true;
  s.has_led = s.shall_end = false;
  s.started_s = now_s;
  s.status.reset();
  out.emplace_back(start_process{slot, std::move(doors)});
}

void supervisor::start_again(std::size_t slot, double now_s, orders& out) {
  auto& s = slots_[slot];
  const bool has_hardly_begun = s.ended_s - s.started_s < short_life_s;
  const double delay_s = std::max(rules_.restart_delay_s, has_hardly_begun ? short_life_s : 0);
  if (now_s - s.ended_s < delay_s)
    return;
  s.is_restart = true;
  ++s.restarts;
  ++restarts_;
  out.emplace_back(tell{slot, fmt::format("is started again ({} of {})", restarts_, rules_.restarts)});
  start(slot, doors(), now_s, out);
}

/// Returns the doors of processes that take part, the leader's first. Each of them knows the leader.
std::vector<std::string> supervisor::doors() const {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (const auto& s = slots_[k]; s.takes_part)
      result.insert(k == leads_ ? result.begin() : result.end(), s.door);
  if (result.empty())
    result.push_back(slots_[leads_].door);
  return result;
}

void supervisor::give_up(std::size_t slot, double now_s, orders& out) {
  if (given_up_)
    return;
  given_up_ = slot;
  heard_s_ = now_s;
  tell_to_end(leads_, SIGTERM, out);
}

// -- the end ----------------------------------------------------------------------------------------------------------

/// Tells a process once: the second signal of a kind would kill it.
void supervisor::tell_to_end(std::size_t slot, int signal, orders& out) {
  if (slots_[slot].runs && !std::exchange(slots_[slot].shall_end, true))
    out.emplace_back(end_run{slot, signal});
}

/// Ends a run that its leader does not end, and that no other node has come to lead.
void supervisor::end_without_leader(double now_s, orders& out) {
  leaderless_ = leader_end{.status = killed + SIGKILL, .at_s = now_s, .silent_s = now_s - heard_s_};
  out.emplace_back(tell{leads_, fmt::format("does not end the run: it {}, and is killed", described(*leaderless_))});
  out.emplace_back(end_run{leads_, SIGKILL});
  for (std::size_t k = 0; k < slots_.size(); ++k)
    if (k != leads_)
      tell_to_end(k, SIGTERM, out);
  over_ = true;
}

std::string supervisor::described(const leader_end& end) {
  if (end.silent_s > 0)
    return fmt::format("has said nothing for {:.3g} s", end.silent_s);
  return end.has_left ? "has left" : described_end(end.status, end.last_words);
}

/// True if the leader has ended and no other node may lead soon. Another may if it was killed, was cut off and given
/// up, or has left.
bool supervisor::is_over_at(double now_s) const {
  if (!leaderless_)
    return false;
  const bool may_be_followed = leaderless_->has_left || slots_.size() >= least_that_outlive_a_leader;
  if (!begun_ || interrupted_ != 0 || has_ended_as_planned() || !may_be_followed)
    return true;
  return !somebody_takes_part() || now_s - leaderless_->at_s > rules_.patience_s + longest_succession_s;
}

bool supervisor::has_ended_as_planned() const {
  return leaderless_ && leaderless_->status == 0 && !leaderless_->has_left;
}

bool supervisor::somebody_takes_part() const { return std::ranges::any_of(slots_, &slot_state::takes_part); }

std::size_t supervisor::restarts_left() const {
  const auto asks = [](const slot_state& s) { return s.is_restart && s.runs && !s.takes_part; };
  return rules_.restarts - restarts_ + static_cast<std::size_t>(std::ranges::count_if(slots_, asks));
}

int supervisor::status() const {
  const int status = leaderless_ ? leaderless_->status : 1;
  return interrupted_ != 0 && status > killed ? killed + interrupted_ : status;
}

std::optional<supervisor::failure> supervisor::failed_start() const {
  const auto has_not_said_why = [this](const leader_end& end) {
    if (end.status == 0)
      return slots_.size() > 1; // the others have not taken part
    return rules_.starts_programs || is_speechless(end.status) || end.last_words.empty();
  };
  if (!begun_ && interrupted_ == 0 && leaderless_ && has_not_said_why(*leaderless_))
    return failure{
        leads_, fmt::format("{}, which leads, {} before the run had begun", name_of(leads_), described(*leaderless_))};
  if (!given_up_)
    return std::nullopt;
  const auto& s = slots_[*given_up_];
  return failure{*given_up_, fmt::format("{} {}", name_of(*given_up_), described_end(*s.status, s.last_words))};
}

std::optional<std::string> supervisor::loss() const {
  const bool nobody_says = leaderless_ && (leaderless_->has_left || is_speechless(leaderless_->status));
  // A node that was cut off leaves what it had come to, also when the others go on to the end.
  if (!begun_ || interrupted_ != 0 || has_ended_as_planned() || (survivors_.empty() && !nobody_says))
    return std::nullopt;
  const auto end = leaderless_.value_or(leader_end{.status = 1});
  return fmt::format("nobody goes on with the run: {}, which led it last, {}", name_of(leads_), described(end));
}

} // namespace gossamer::apps
