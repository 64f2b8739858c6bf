#pragma once

#include "gossamer/actors/agreement/node_protocol.hpp"
#include "gossamer/actors/node/world.hpp"

#include <deque>
#include <functional>
#include <set>

#include "small_run.hpp"

namespace gossamer::actors {

/// Nodes whose workers answer every question at once. All nodes vote, and node 0 leads. A node that dies is known to be
/// gone; a node that is cut off is suspected.
class processes {
public:
  processes(const std::string& algorithm, std::vector<consensus::node_number> homes, consensus::node_number nodes)
      : run_(small_run(algorithm, algorithm == "ad-psgd" ? "star" : "ring",
                       homes.size() - (algorithm == "async-sgd"))), // the last rank of async-sgd is a master
        rules_(charter_of(*run_, nodes, std::move(homes), std::chrono::seconds(10))) {
    std::map<consensus::node_number, consensus::process> there;
    for (consensus::node_number n = 0; n < nodes; ++n)
      there[n] = {};
    first_ = founding_of(*run_, *rules_, there);
    for (consensus::node_number n = 0; n < nodes; ++n) {
      nodes_.emplace(n, node_protocol{*run_, *rules_, n, first_});
      obey(n, nodes_.at(n).begin());
    }
  }

  node_protocol& operator[](consensus::node_number n) { return nodes_.at(n); }

  /// Handles an event at a node, and all that follows from it.
  template <class Event>
  void on(consensus::node_number n, const Event& e) {
    obey(n, nodes_.at(n).on(e));
    deliver();
  }
  template <class Event>
  void in_leader(consensus::node_number n, const Event& e) {
    obey(n, nodes_.at(n).in_leader(e));
    deliver();
  }
  /// Handles an event at a node. Its messages are delivered after those that are under way.
  template <class Event>
  void meanwhile(consensus::node_number n, const Event& e) {
    obey(n, nodes_.at(n).on(e));
  }
  /// Lets a node ask to leave. Its messages are delivered after those that are under way.
  void leave_meanwhile(consensus::node_number n) { obey(n, nodes_.at(n).leave()); }
  void worker_finishes(rank i) { on(rules_->homes[i], worker_finished{i, lives_[i]}); }
  void worker_dies(rank i) { on(rules_->homes[i], worker_lost{i, lives_[i]}); }

  void die(consensus::node_number n) {
    nodes_.erase(n);
    tell_of(n, consensus::health::state::gone);
  }
  /// Cuts a node off. It suspects the others, and they suspect it.
  void cut_off(consensus::node_number n) {
    cut_off_.insert(n);
    tell_of(n, consensus::health::state::suspected);
    tell_of_others(n, consensus::health::state::suspected);
  }
  void reconnect(consensus::node_number n) {
    cut_off_.erase(n);
    tell_of_others(n, consensus::health::state::well);
    tell_of(n, consensus::health::state::well);
  }
  /// Starts a node's process again, without any knowledge.
  void come_back(consensus::node_number n) {
    nodes_.emplace(n, node_protocol{*run_, *rules_, n, consensus::process{++started_again_[n], {}, {}}});
    obey(n, nodes_.at(n).begin());
    tell_of_others(n, consensus::health::state::well);
    tell_of(n, consensus::health::state::well);
  }
  /// Tells a node the state of all other nodes.
  void tell_of_others(consensus::node_number n, consensus::health::state state) {
    for (const auto& [other, node] : nodes_)
      if (other != n)
        obey(n, nodes_.at(n).on(consensus::health{other, started_again_[other], state}));
    deliver();
  }

  void pass(double seconds) {
    for (const auto end = now_s_ + seconds; now_s_ < end; now_s_ += 0.125)
      for (auto& [n, node] : nodes_) {
        obey(n, node.on(time_is{now_s_}));
        deliver();
      }
  }

  /// Returns the orders of a node since the last call.
  node_protocol::orders orders_of(consensus::node_number n) { return std::exchange(ordered_[n], {}); }
  std::uint32_t life(rank i) const { return lives_.at(i); }
  std::set<rank> stand_still; ///< workers that were told to hold, and nothing since
  std::function<void(consensus::node_number from, const consensus::message& what)> before_delivery;

private:
  void tell_of(consensus::node_number n, consensus::health::state state) {
    for (auto& [other, node] : nodes_)
      if (other != n && !cut_off_.contains(other))
        obey(other, node.on(consensus::health{n, started_again_[n], state}));
    deliver();
  }

  void obey(consensus::node_number n, const node_protocol::orders& all) {
    for (const auto& o : all) {
      ordered_[n].push_back(o);
      if (const auto* letter = std::get_if<consensus::post>(&o)) {
        for (const auto to : letter->to)
          mail_.push_back({n, to, letter->what});
      } else if (const auto* told = std::get_if<report_to>(&o)) {
        mail_.push_back({n, told->node, told->what});
      } else if (const auto* begun = std::get_if<start_worker>(&o)) {
        lives_[begun->who] = begun->incarnation;
      } else if (const auto* question = std::get_if<hold_steps>(&o)) {
        for (const auto& [i, life] : lives_)
          if (rules_->homes[i] == n) { // dead workers answer too, and are not heard
            stand_still.insert(i);
            obey(n, nodes_.at(n).on(worker_holds{i, life, question->round, 3, 3}));
          }
      } else if (const auto* decided = std::get_if<decision>(&o)) {
        for (const auto& [i, life] : decided->view.lives)
          if (rules_->homes[i] == n && lives_[i] == life)
            stand_still.erase(i);
      }
    }
  }

  void deliver() {
    while (!mail_.empty()) {
      const auto m = mail_.front();
      mail_.pop_front();
      if (!nodes_.contains(m.to) || cut_off_.contains(m.from) || cut_off_.contains(m.to))
        continue;
      if (const auto* word = std::get_if<consensus::message>(&m.what)) {
        if (before_delivery)
          before_delivery(m.from, *word);
        obey(m.to, nodes_.at(m.to).on(*word));
      } else {
        obey(m.to, nodes_.at(m.to).on(std::get<leader_report>(m.what)));
      }
    }
  }

  struct envelope {
    consensus::node_number from, to;
    std::variant<consensus::message, leader_report> what;
  };

  std::shared_ptr<const experiment> run_;
  std::shared_ptr<const consensus::charter> rules_;
  consensus::resolution first_;
  std::map<consensus::node_number, node_protocol> nodes_;
  std::set<consensus::node_number> cut_off_;
  std::map<consensus::node_number, node_protocol::orders> ordered_;
  std::map<rank, std::uint32_t> lives_;
  std::map<consensus::node_number, std::uint32_t> started_again_;
  std::deque<envelope> mail_;
  double now_s_ = 0;
};

} // namespace gossamer::actors
