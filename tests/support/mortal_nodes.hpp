#pragma once

// The events of a `mortal_world`.
#include <algorithm>

#include "mortal_world.hpp"

namespace gossamer::testing_support {

inline void mortal_world::found() {
  rules_.nodes = static_cast<std::uint32_t>(where_ == dwelling::together ? 1 : participants());
  for (actors::rank i = 0; i < participants(); ++i)
    rules_.homes.push_back(static_cast<std::uint32_t>(home_of(i)));
  const auto& traits = run_->algorithm->traits;
  rules_.synchronous = traits.synchronous;
  rules_.plan = actors::consensus::membership_rules(traits, run_->settings.workers);
  std::set<std::uint32_t> voters;
  for (std::uint32_t n = 0; n < std::min<std::size_t>(rules_.nodes, actors::consensus::most_voters); ++n)
    voters.insert(n);
  const auto first = actors::consensus::founding(
      rules_.homes, voters, run_->steps_per_worker * (traits.synchronous ? 1 : run_->settings.workers));
  for (std::uint32_t n = 0; n < rules_.nodes; ++n)
    nodes_.push_back(std::make_unique<process>(actors::node_protocol{*run_, rules_, n, first}));
  for (auto& one : nodes_)
    one->roster = {std::vector<std::uint32_t>(participants()), std::vector<bool>(participants(), true)};
  nodes_.front()->progress.emplace(*run_);
  starts_.assign(rules_.nodes, 0);
}

inline bool mortal_world::step() {
  std::vector<std::function<void()>> possible;
  for (auto& n : lives_) {
    if (!n)
      continue;
    for (auto& entry : n->mail)
      if (!entry.second.empty())
        possible.emplace_back([self = n.get(), &queue = entry.second] {
          const auto handle = std::move(queue.front());
          queue.pop_front();
          handle(*self);
        });
    if (n->job)
      possible.emplace_back([self = n.get()] {
        const auto job = *std::exchange(self->job, std::nullopt);
        vec gradient = 0.5f * job.x;
        const auto at = random_stream{self->id, 0, purpose::data};
        for (std::size_t k = 0; k < gradient.size(); ++k) // gradients of workers differ
          gradient.mutate()[k] += static_cast<float>(at.word(job.step, k)) * 0x1p-32f - 0.5f;
        self->w.gradient_arrived(
            {job.step, std::move(gradient), 0.0, job.what != actors::gradient_job::kind::full_part});
      });
  }
  for (auto& entry : inbox_)
    if (!entry.second.empty())
      possible.emplace_back([&queue = entry.second] {
        const auto handle = std::move(queue.front());
        queue.pop_front();
        handle();
      });
  if (possible.empty())
    return false;
  possible[choice_.below(static_cast<std::uint32_t>(possible.size()))]();
  for (auto& n : lives_)
    if (n && n->w.finished() && !std::exchange(n->reported, true))
      n->tell(actors::worker_finished{n->id, n->incarnation});
  return true;
}

inline void mortal_world::kill(actors::rank i) {
  const auto n = home_of(i);
  if (!lives_[i] && where_ == dwelling::together)
    return;
  const auto incarnation = lives_[i] ? lives_[i]->incarnation : 0;
  lives_[i].reset();
  if (where_ == dwelling::together)
    return to_node(i, n, [this, n, i, incarnation] {
      on(n, actors::worker_lost{i, incarnation});
    }); // after all messages of the worker
  if (nodes_[n])
    end_process(n);
}

inline void mortal_world::end_process(std::size_t n) {
  nodes_[n].reset();
  saved_[n] = nullptr;
  tell_of_process(n, actors::consensus::health::state::gone);
}

inline void mortal_world::retire(actors::rank i) {
  const auto n = home_of(i);
  if (where_ == dwelling::together)
    return to_node(outside, n, [this, n, i] { on(n, actors::retire_worker{i}); });
  if (nodes_[n])
    obey(n, nodes_[n]->protocol.leave());
}

inline void mortal_world::bring_back(actors::rank i) {
  const auto n = home_of(i);
  if (where_ == dwelling::together)
    return to_node(outside, n, [this, n, i] { on(n, actors::restart_worker{i}); });
  if (nodes_[n])
    return;
  nodes_[n] = std::make_unique<process>(actors::node_protocol{*run_, rules_, static_cast<std::uint32_t>(n),
                                                              actors::consensus::process{++starts_[n], {}, {}}});
  nodes_[n]->roster = {std::vector<std::uint32_t>(participants()), std::vector<bool>(participants(), false)};
  for (auto& [way, mail] : inbox_)
    if (way.second == n)
      mail.clear(); // the mail was for the former process
  for (std::uint32_t other = 0; other < nodes_.size(); ++other)
    if (other != n && nodes_[other])
      to_node(sender(other), n, [this, n, other, life = starts_[other]] {
        on(n, actors::consensus::health{other, life, actors::consensus::health::state::well});
      });
  tell_of_process(n, actors::consensus::health::state::well);
}

inline void mortal_world::obey(std::size_t n, const actors::decision& m) {
  auto& here = *nodes_[n];
  std::shared_ptr<const actors::view> made;
  for (actors::rank i = 0; i < participants(); ++i) {
    const auto member = m.view.lives.find(i);
    here.roster.present[i] = member != m.view.lives.end();
    if (member != m.view.lives.end())
      here.roster.incarnations[i] = member->second;
  }
  for (auto& one : lives_) {
    if (!one || home_of(one->id) != n)
      continue;
    const auto member = m.view.lives.find(one->id);
    if (member == m.view.lives.end() || member->second != one->incarnation)
      continue;
    const std::pair now{one->incarnation, m.view.number};
    const bool news = std::exchange(here.views[one->id], now) != now && m.view.number > 1;
    if (news && !made)
      made = views_.make(m.view);
    actors::proceed_with all{news ? made : nullptr, everybody(n), m.limit, 0, m.parting};
    one->mail[sender(n)].push_back([all](life& self) { self.proceed(all); });
  }
}

inline void mortal_world::obey(std::size_t n, const actors::hold_steps& m) {
  tell_workers(n, [m](life& self) {
    const auto t = self.w.hold();
    self.tell(actors::worker_holds{self.id, self.incarnation, m.round, t, self.w.next_exchange()});
  });
}

} // namespace gossamer::testing_support
