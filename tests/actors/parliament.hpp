#pragma once

#include "gossamer/actors/agreement/delegate.hpp"

#include <deque>

namespace gossamer::actors::consensus {

/// Hosts with one worker each, followed by launchers without workers.
class parliament {
public:
  explicit parliament(node_number hosts, node_number launchers = 0, bool synchronous = true) {
    rules_ = {.nodes = hosts + launchers, .homes = {}, .synchronous = synchronous, .plan = {}};
    rules_.plan = membership_rules({.synchronous = synchronous, .on_loss = interrupted_round::repeat});
    std::set<node_number> voters;
    for (node_number i = 0; i < hosts; ++i)
      rules_.homes.push_back(i);
    for (node_number i = 0; i < rules_.nodes && i < most_voters; ++i)
      voters.insert(i);
    first_ = founding(rules_.homes, voters, 1000);
    for (node_number i = 0; i < rules_.nodes; ++i)
      nodes_.emplace(i, delegate{rules_, i, first_});
  }

  delegate& operator[](node_number i) { return nodes_.at(i); }
  const charter& rules() const { return rules_; }
  const resolution& first() const { return first_; }

  void cut_off(node_number i) { cut_off_.insert(i); }
  void reconnect(node_number i) { cut_off_.erase(i); }
  void die(node_number i) {
    nodes_.erase(i);
    for (auto& [j, d] : nodes_)
      d.on(health{i, lives_[i], health::state::gone});
  }
  void come_back(node_number i) {
    nodes_.emplace(i, delegate{rules_, i, process{++lives_[i], {}, {}}});
    for (auto& [j, d] : nodes_) {
      d.on(health{i, lives_[i], health::state::well});
      nodes_.at(i).on(health{j, lives_[j], health::state::well});
    }
  }

  /// Handles an event at a node, and all that follows from it.
  template <class Event>
  void on(node_number i, const Event& e) {
    obey(i, (*this)[i].on(e));
    deliver();
  }
  void stand(node_number i) {
    obey(i, (*this)[i].stand());
    deliver();
  }
  void pass(double seconds) {
    for (const auto end = now_ + seconds; now_ < end; now_ += 0.125)
      for (node_number i = 0; i < rules_.nodes; ++i)
        if (nodes_.contains(i))
          on(i, clock_says{now_});
  }

  std::map<rank, std::uint64_t> steps; ///< the step of each worker
  std::set<rank> dead;
  std::map<node_number, std::uint64_t> frozen, adopted;
  std::uint64_t posts = 0;

private:
  void obey(node_number i, const orders& all) {
    for (const auto& one : all) {
      if (const auto* p = std::get_if<post>(&one)) {
        for (const auto to : p->to)
          if (!cut_off_.contains(i) && !cut_off_.contains(to))
            mail_.emplace_back(to, p->what);
      } else if (std::holds_alternative<hold_workers>(one)) {
        ++frozen[i];
        workers_stand here;
        if (dead.contains(i))
          here.anew = {{.who = i}};
        else
          here.where = {{.who = i, .incarnation = incarnations_[i], .step = steps[i]}};
        obey(i, (*this)[i].on(here));
      } else if (const auto* a = std::get_if<adopt>(&one)) {
        ++adopted[i];
        if (const auto mine = a->what.what.view.lives.find(i); mine != a->what.what.view.lives.end())
          incarnations_[i] = mine->second;
      }
    }
  }
  void deliver() {
    for (; !mail_.empty(); mail_.pop_front()) {
      const auto [to, what] = mail_.front();
      ++posts;
      if (nodes_.contains(to))
        obey(to, nodes_.at(to).on(what));
    }
  }

  charter rules_;
  resolution first_;
  std::map<node_number, delegate> nodes_;
  std::map<node_number, std::uint32_t> lives_, incarnations_;
  std::deque<std::pair<node_number, message>> mail_;
  std::set<node_number> cut_off_;
  double now_ = 0;
};

} // namespace gossamer::actors::consensus
