#include "gossamer/actors/agreement/vigil.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

using state = consensus::health::state;

vigil::vigil(const consensus::charter& rules, node_number self, time patience)
    : self_(self), ranks_(rules.nodes), detector_(patience) {
  for (rank i = 0; i < rules.homes.size(); ++i)
    if (rules.homes[i] < ranks_.size())
      ranks_[rules.homes[i]].push_back(i);
}

bool vigil::hear(node_number n, const consensus::seats& s, time now) {
  if (detector_.watches(n))
    detector_.heard(n, now);
  const bool is_barred = conflicts_ && conflicts_->bars(n, now); // it may well reach this node
  const bool is_news = !is_barred && s[n].is != state::well;
  if (is_news)
    back_since_[n] = now;
  return is_news;
}

void vigil::complain(node_number by, node_number about, const std::string& why, time now) {
  if (conflicts_ && !is_just_back(by, now) && !is_just_back(about, now))
    conflicts_->add(by, about, why, now);
}

bool vigil::is_just_back(node_number n, time now) const {
  const auto found = back_since_.find(n);
  return found != back_since_.end() && now - found->second < detector_.patience();
}

void vigil::forget(node_number n) {
  detector_.forget(n);
  if (conflicts_)
    conflicts_->forget(n);
}

bool vigil::has_expelled(node_number n, std::uint32_t life) const {
  const auto found = expelled_.find(n);
  return found != expelled_.end() && life <= found->second;
}

void vigil::choose_whom_to_watch(const outlook& known, time now) {
  for (node_number n = 0; n < known.seats.size(); ++n) {
    const bool is_wanted =
        n != self_ && !known.seats.is_gone(n) && (conflicts_ || known.asks || known.last.voters.contains(n));
    if (!is_wanted)
      detector_.forget(n);
    else if (!detector_.watches(n))
      detector_.heard(n, now);
  }
  if (std::exchange(resolution_, known.last.number()) != known.last.number() && detector_.watches(known.last.leader))
    detector_.heard(known.last.leader, now); // the resolution is news of it, if not from it
}

std::vector<vigil::suspicion> vigil::suspects(const outlook& known, time now) {
  std::vector<suspicion> all;
  const auto add = [&](node_number n, const std::string& why) {
    if (known.seats[n].is != state::well)
      return;
    reasons_[n] = why;
    all.push_back({n, known.seats[n].by.life, why});
  };
  choose_whom_to_watch(known, now);
  for (const auto n : detector_.silent(now)) {
    if (conflicts_)
      conflicts_->pardon(n);
    add(n, fmt::format("nothing has been heard of it for {:.3g} s",
                       std::chrono::duration<double>(detector_.patience()).count()));
  }
  if (conflicts_)
    for (const auto& [n, why] : conflicts_->settle(now))
      add(n, why);
  return all;
}

std::vector<vigil::suspicion> vigil::left_out(const outlook& known) const {
  std::vector<suspicion> all;
  for (const auto& [n, why] : reasons_)
    if (known.seats[n].is == state::suspected && !has_members(n, known.last.what.view.lives))
      all.push_back({n, known.seats[n].by.life, why});
  return all;
}

vigil::doubts vigil::doubt(const outlook& known, time now) {
  doubts result;
  const auto& lives = known.last.what.view.lives;
  for (node_number n = 0; n < known.seats.size(); ++n) {
    const auto life = known.seats[n].by.life;
    if (n == self_ || !known.seats.is_gone(n) || has_expelled(n, life)) {
      losses_.erase(n);
      continue;
    }
    auto& one = losses_.try_emplace(n, loss{now, lives}).first->second;
    if (!known.last.knows(n, life) || !has_members(n, lives) || !has_members(self_, lives))
      continue;
    if (has_begun_anew(n, one.lives, lives) || has_begun_anew(self_, one.lives, lives)) {
      result.is_taken_back = n;
      return result;
    }
    if (now - one.since > conflicts::collected_for) {
      one.since = now;
      result.of.push_back(n);
    }
  }
  return result;
}

bool vigil::lacks_quorum(const outlook& known) const {
  auto left = known.last.voters; // those that may answer some day; a restarted node is another voter
  std::erase_if(left, [&](node_number n) {
    return n != self_ && (known.seats.is_gone(n) || !known.last.knows(n, known.seats[n].by.life));
  });
  return known.last.number() > 0 && !known.last.elected_by(left);
}

bool vigil::lacks_leader(const outlook& known, time now) {
  if (known.has_leader) {
    alone_since_.reset();
    return false;
  }
  alone_since_ = alone_since_.value_or(now);
  return now - *alone_since_ > detector_.patience();
}

bool vigil::has_members(node_number n, const lives_of_ranks& members) const {
  return std::ranges::any_of(ranks_[n], [&](rank i) { return members.contains(i); });
}

/// True if each rank of the node that is a member now is in another life than before.
bool vigil::has_begun_anew(node_number n, const lives_of_ranks& before, const lives_of_ranks& now) const {
  return std::ranges::all_of(ranks_[n], [&](rank i) {
    const auto found = now.find(i);
    const auto former = before.find(i);
    return found == now.end() || former == before.end() || former->second != found->second;
  });
}

} // namespace gossamer::actors
