// The rules of a world, complete or without one of them.
#include "consensus_world.hpp"

namespace gossamer::actors::consensus {

namespace {

/// Returns rules in which the step alone is the version of a model.
planning by_steps_alone(planning given) {
  return [given](const findings& found) {
    auto last = found.last;
    std::vector<standing> workers(found.workers.begin(), found.workers.end());
    for (auto& w : workers)
      if (w.line != 0) {
        w.line = last.number();
        last.what.view.lives[w.who] = w.incarnation;
      }
    auto result = given({last, workers, found.stop});
    if (result && result->view.number == found.last.what.view.number)
      ++result->view.number; // a worker that was left out is back
    return result;
  };
}

planning rules_of(rounds kind, rule left_out, const bounds& b) {
  algorithm_traits traits;
  traits.synchronous = kind != rounds::none;
  traits.on_loss = kind == rounds::finish ? interrupted_round::finish : interrupted_round::repeat;
  const auto rules = membership_rules(traits, most_workers, b.planned * b.processes);
  if (left_out == rule::line)
    return by_steps_alone(rules);
  if (left_out != rule::later && left_out != rule::limit && left_out != rule::end)
    return rules;
  return [rules, left_out](const findings& found) {
    auto result = rules(found);
    if (result && left_out == rule::limit && found.stop)
      --result->limit;
    if (result && left_out == rule::end && result->view.lives.size() < found.last.what.view.lives.size())
      ++result->limit;
    if (result && left_out == rule::later && result->view.number != found.last.what.view.number)
      --result->view.first_step;
    return result;
  };
}

} // namespace

setting::setting(const bounds& b, rounds k, rule r) : may(b), kind(k), left_out(r) {
  rules.nodes = b.processes + b.launcher;
  std::set<node_number> voters;
  for (node_number i = 0; i < rules.nodes; ++i)
    voters.insert(i);
  for (node_number i = 0; i < b.processes; ++i)
    rules.homes.push_back(i);
  rules.synchronous = k != rounds::none;
  rules.plan = rules_of(k, r, b);
  first = founding(rules.homes, voters, b.planned);
}

} // namespace gossamer::actors::consensus
