#pragma once

// A world in which only events about seats happen.
#include "gossamer/actors/agreement/inspecting_archive.hpp"
#include "gossamer/actors/agreement/seats.hpp"

#include <algorithm>

#include "consensus_world.hpp"

namespace gossamer::actors::consensus {

using enum health::state;

/// The mistakes that a world can make, to see whether the checks notice.
enum class mistake {
  none,
  raise_when_asked,   ///< the seat enters the candidate's life from the moment at which it is kept
  tell_of_candidates, ///< nodes hear of lives that may never begin
  count_lives,        ///< lives are counted by seat, not by resolution
  replace_the_heard,  ///< a candidate is admitted although the silent node is back
};

struct limits {
  node_number places = 3;
  int joins = 2, silences = 1, crashes = 1, resolutions = 2;
};

struct one_process {
  node_number number;
  std::uint32_t life;
  bool lives = true;
  std::uint32_t knows = 1; ///< number of resolutions
  seats table;
};
struct one_candidate {
  std::size_t leader; ///< index of its process
  candidacy seat;
};

struct step {
  enum class kind { join, ready, refuse, die, silence, hear, crash, bury, resolve, learn, greet } what;
  std::size_t who = 0, whom = 0;
};

class seat_world {
public:
  seat_world(const limits& may, mistake wrong) : may_(may), wrong_(wrong) {
    std::vector<node_number> homes;
    std::set<node_number> all;
    for (node_number n = 0; n < may.places; ++n)
      homes.push_back(n), all.insert(n);
    decided_.push_back(founding(homes, all, 100));
    for (node_number n = 0; n < may.places; ++n)
      start(n, 0);
  }

  std::vector<step> possible() const {
    using enum step::kind;
    std::vector<step> all;
    for (std::size_t p = 0; p < processes_.size(); ++p) {
      const auto& one = processes_[p];
      if (!one.lives)
        continue;
      if (has_leader(p) && joins_ < may_.joins)
        all.push_back({join, p});
      if (may_resolve(p))
        all.push_back({resolve, p});
      if (one.knows < decided_.size())
        all.push_back({learn, p});
      if (crashes_ < may_.crashes && living() > 1)
        all.push_back({crash, p});
      for (node_number n = 0; n < may_.places; ++n) {
        const auto& seat = one.table[n];
        if (n == one.number || !seat.taken)
          continue;
        if (seat.is == well && silences_ < may_.silences)
          all.push_back({silence, p, n});
        if (seat.is != well && is_alive(n, seat.by.life))
          all.push_back({hear, p, n});
        if (seat.is != gone && was_alive(n, seat.by.life) && !is_alive(n, seat.by.life))
          all.push_back({bury, p, n});
      }
      for (std::size_t q = 0; q < processes_.size(); ++q)
        if (processes_[q].lives && one.table[processes_[q].number].by.life < processes_[q].life)
          all.push_back({greet, p, q});
    }
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      all.push_back({die, c});
      if (processes_[candidates_[c].leader].lives) {
        all.push_back({ready, c});
        all.push_back({refuse, c});
      }
    }
    return all;
  }

  /// @error broken
  void act(const step& s) {
    static constexpr std::array names = {"join",  "ready", "refuse",  "die",   "silence", "hear",
                                         "crash", "bury",  "resolve", "learn", "greet"};
    way_ += std::string{" "} + names[static_cast<std::size_t>(s.what)] + "(" + std::to_string(s.who) + ","
            + std::to_string(s.whom) + ")";
    using enum step::kind;
    switch (s.what) {
    case join:
      ask(s.who);
      break;
    case ready:
      come(s.who);
      break;
    case refuse:
    case die:
      give_up(s.who);
      break;
    case silence:
      ++silences_, suspect(s.who, static_cast<node_number>(s.whom));
      break;
    case hear:
      believe(s.who, static_cast<node_number>(s.whom), well);
      break;
    case crash:
      ++crashes_, processes_[s.who].lives = false;
      break;
    case bury:
      believe(s.who, static_cast<node_number>(s.whom), gone);
      break;
    case resolve:
      agree(s.who);
      break;
    case learn:
      adopt(s.who);
      break;
    case greet:
      meet(s.who, processes_[s.whom]);
      break;
    }
    check();
  }

  /// Ends all trouble. The last process that came to a place and lives must have it, and every other place can be
  /// given. Two processes may claim one place: a silent one, and one let in by a leader that had a successor. Either
  /// may have it.
  void calm() {
    settle();
    if (std::ranges::none_of(processes_, [this](const auto& p) { return p.lives && is_member(p); }))
      return; // no member is left
    for (node_number n = 0; n < may_.places; ++n) {
      const auto member = decided_.back().nodes.find(n);
      if (member != decided_.back().nodes.end() && is_alive(n, member->second.life))
        continue;
      if (newest_lives(n))
        throw broken{"somebody lives who has the place of " + std::to_string(n) + ", and has been thrown out"};
      const auto before = processes_.size();
      ask(newest_leader(), n);
      if (candidates_.empty() || candidates_.back().seat.node != n)
        throw broken{"the place of " + std::to_string(n) + " is free, and nobody can have it"};
      come(candidates_.size() - 1);
      if (processes_.size() == before)
        throw broken{"the place of " + std::to_string(n) + " is free, and whoever wants it is refused"};
      settle();
    }
    for (const auto& one : processes_)
      for (node_number n = 0; one.lives && is_member(one) && n < may_.places; ++n)
        if (!one.table.is_well(n, decided_.back().nodes.at(n).life))
          throw broken{fmt(one.number, one.life) + " does not know who has the place of " + std::to_string(n)};
  }

  const std::string& way() const { return way_; }

  std::uint64_t hash() const {
    auto copy = *this;
    hashing_archive sum{hash_of(joins_, silences_, crashes_, decided_.size(), given_.size())};
    inspecting_archive all{sum};
    for (auto& one : copy.processes_) {
      sum(one.number)(one.life)(one.lives)(one.knows);
      all(one.table);
    }
    for (auto& r : copy.decided_)
      all(r);
    for (auto& c : copy.candidates_) {
      std::uint64_t leader = c.leader;
      sum(leader)(c.seat.node)(c.seat.life);
    }
    return sum.sum();
  }

private:
  static std::string fmt(node_number n, std::uint32_t life) {
    return "node " + std::to_string(n) + " in life " + std::to_string(life);
  }
  void start(node_number n, std::uint32_t life) {
    processes_.push_back({n, life, true, static_cast<std::uint32_t>(decided_.size()), seats{may_.places}});
    processes_.back().table.meet(n, {life, {}, {}});
    processes_.back().table.adopt(decided_.back());
  }
  bool is_alive(node_number n, std::uint32_t life) const {
    return std::ranges::any_of(processes_, [&](const auto& p) { return p.number == n && p.life == life && p.lives; });
  }
  bool was_alive(node_number n, std::uint32_t life) const {
    return std::ranges::any_of(processes_, [&](const auto& p) { return p.number == n && p.life == life; });
  }
  int living() const { return static_cast<int>(std::ranges::count(processes_, true, &one_process::lives)); }
  /// True if the process leads by its own knowledge. A process that was cut off may be wrong, and another may lead.
  bool has_leader(std::size_t p) const {
    const auto& last = decided_[processes_[p].knows - 1];
    return last.leader == processes_[p].number && last.knows(last.leader, processes_[p].life);
  }
  bool is_member(const one_process& one) const { return decided_.back().knows(one.number, one.life); }
  bool newest_lives(node_number n) const {
    const one_process* newest = nullptr;
    for (const auto& p : processes_)
      if (p.number == n && (newest == nullptr || newest->life < p.life))
        newest = &p;
    return newest->lives;
  }
  /// True if the process may resolve. A member that knows the last resolution may come to lead.
  bool may_resolve(std::size_t p) const {
    const auto& one = processes_[p];
    return one.knows == decided_.size() && static_cast<int>(decided_.size()) <= may_.resolutions && is_member(one);
  }

  void ask(std::size_t p, std::optional<node_number> wanted = std::nullopt) {
    ++joins_;
    auto& one = processes_[p];
    auto kept = one.table.keep(wanted, one.knows);
    if (!kept)
      return;
    if (wrong_ == mistake::count_lives) {
      one.table.release(*kept);
      kept->life = one.table[kept->node].by.life + 1;
    }
    if (!given_.insert({kept->node, kept->life}).second)
      throw broken{"two candidates are " + fmt(kept->node, kept->life)};
    if (wrong_ == mistake::raise_when_asked) {
      one.table.meet(kept->node, {kept->life, {}, {}});
      one.table.believe({kept->node, kept->life, gone});
    }
    candidates_.push_back({p, *kept});
  }

  void come(std::size_t c) {
    const auto [p, seat] = candidates_[c];
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(c));
    auto& leader = processes_[p].table;
    const bool is_heard = leader[seat.node].agreed == leader[seat.node].by.life && leader[seat.node].is == well;
    if (wrong_ == mistake::replace_the_heard)
      leader.believe({seat.node, leader[seat.node].by.life, gone});
    if (wrong_ == mistake::raise_when_asked)
      leader.believe({seat.node, seat.life, well});
    else if (!leader.admit(seat.node, {seat.life, {}, {}}))
      return leader.release(seat);
    if (is_heard)
      throw broken{fmt(seat.node, seat.life) + " takes the place of one that is well"};
    if (wrong_ == mistake::tell_of_candidates)
      for (auto& other : processes_)
        for (const auto& [_, kept] : candidates_)
          other.table.meet(kept.node, {kept.life, {}, {}});
    admitted_.insert({seat.node, seat.life});
    start(seat.node, seat.life);
    processes_.back().knows = processes_[p].knows;
  }

  void give_up(std::size_t c) {
    processes_[candidates_[c].leader].table.release(candidates_[c].seat);
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(c));
  }

  /// Makes a process suspect a node. A silent node is lost when a resolution has left it out.
  void suspect(std::size_t p, node_number n) {
    believe(p, n, suspected);
    lose_those_left_out(p);
  }
  void lose_those_left_out(std::size_t p) {
    for (node_number n = 0; n < may_.places; ++n)
      if (const auto& seat = processes_[p].table[n]; seat.is == suspected && seat.agreed != seat.by.life)
        believe(p, n, gone);
  }
  void believe(std::size_t p, node_number n, health::state what) {
    auto& table = processes_[p].table;
    table.believe({n, table[n].by.life, what});
  }

  /// Resolves with all nodes that are well and alive. The others do not answer.
  void agree(std::size_t p) {
    auto& one = processes_[p];
    auto next = decided_.back();
    ++next.what.number;
    next.leader = one.number;
    next.nodes.clear();
    next.voters.clear();
    for (node_number n = 0; n < may_.places; ++n)
      if (const auto& seat = one.table[n]; seat.is == well && is_alive(n, seat.by.life)) {
        next.nodes[n] = seat.by;
        next.voters.insert(n);
      }
    next.nodes[one.number] = {one.life, {}, {}};
    next.voters.insert(one.number);
    decided_.push_back(next);
    adopt(p);
    lose_those_left_out(p);
  }
  void adopt(std::size_t p) { processes_[p].table.adopt(decided_[processes_[p].knows++]); }
  void meet(std::size_t p, const one_process& other) { processes_[p].table.admit(other.number, {other.life, {}, {}}); }

  void check() const {
    for (const auto& one : processes_)
      for (node_number n = 0; n < may_.places; ++n)
        if (const auto life = one.table[n].by.life; life != 0 && !admitted_.contains({n, life}))
          throw broken{fmt(one.number, one.life) + " has heard of " + fmt(n, life) + ", whom nobody let in"};
    for (const auto& r : decided_)
      for (const auto& [n, p] : r.nodes)
        if (!was_alive(n, p.life))
          throw broken{"it was agreed on " + fmt(n, p.life) + ", which there never was"};
  }

  std::size_t newest_leader() const {
    for (std::size_t p = 0; p < processes_.size(); ++p)
      if (processes_[p].lives && has_leader(p) && processes_[p].knows == decided_.size())
        return p;
    throw broken{"nobody leads"};
  }

  /// Tells every process the truth and all resolutions; then a living process resolves, and its resolution is the last.
  void settle() {
    may_.resolutions += 1000;
    candidates_.clear();
    for (auto& one : processes_)
      for (node_number n = 0; n < may_.places; ++n)
        if (const auto kept = one.table[n].kept_for; kept != 0)
          one.table.release({n, kept});
    for (int turn = 0; turn < 3; ++turn) {
      for (std::size_t p = 0; p < processes_.size(); ++p) {
        if (!processes_[p].lives)
          continue;
        while (processes_[p].knows < decided_.size())
          adopt(p);
        for (node_number n = 0; n < may_.places; ++n)
          if (const auto life = processes_[p].table[n].by.life; n != processes_[p].number && was_alive(n, life))
            believe(p, n, is_alive(n, life) ? well : gone);
        for (const auto& other : processes_)
          if (other.lives && other.life > processes_[p].table[other.number].by.life)
            meet(p, other);
      }
      for (std::size_t p = 0; p < processes_.size(); ++p)
        if (processes_[p].lives && may_resolve(p)) {
          agree(p);
          break;
        }
    }
    for (std::size_t p = 0; p < processes_.size(); ++p)
      while (processes_[p].lives && processes_[p].knows < decided_.size())
        adopt(p);
    check();
  }

  limits may_;
  mistake wrong_;
  std::vector<resolution> decided_;
  std::vector<one_process> processes_;
  std::vector<one_candidate> candidates_;
  std::set<std::pair<node_number, std::uint32_t>> given_, admitted_;
  int joins_ = 0, silences_ = 0, crashes_ = 0;
  std::string way_;
};

} // namespace gossamer::actors::consensus
