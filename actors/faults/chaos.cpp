#include "gossamer/actors/faults/chaos.hpp"

#include "gossamer/base/philox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace gossamer::actors {

namespace {

constexpr double last_begin = 0.7, last_end = 0.8; // shares of the horizon
constexpr double regained_after_s = 5;             // time in which a process that has come back gets a vote
constexpr auto first_of_churn = static_cast<std::size_t>(fault_kind::leave);

// Times at which absences end that have no end in the plan.
constexpr double for_ever = std::numeric_limits<double>::max() / 2;
constexpr double for_ever_with_process = std::numeric_limits<double>::max();
constexpr double spared = std::numeric_limits<double>::infinity(); // a worker that lives, and must not be taken away

bool takes_away(fault_kind kind) { return kind == fault_kind::kill || kind == fault_kind::leave; }

/// Rounded down to three digits, for people. Avoids logarithms, here and below: their last bit differs between
/// machines.
double three_digits(double x) {
  double scale = 1, unit = 1;
  for (; x > 0 && x * scale < 100; scale *= 10)
    ;
  for (; x / unit >= 1000; unit *= 10)
    ;
  return unit > 1 ? std::floor(x / unit) * unit : std::floor(x * scale) / scale;
}

class generator {
public:
  generator(std::uint64_t seed, const chaos_limits& limits)
      : random_(random_stream{seed, 0, purpose::chaos}, 0), limits_(limits),
        dead_until_s_(limits.workers + limits.masters, -1) {
    for (const auto i : drawn_to_spare())
      dead_until_s_[i] = spared;
    for (std::size_t i = founders(); i < limits.workers; ++i)
      dead_until_s_[i] = limits.processes && i / limits.workers_per_node >= nodes() ? for_ever_with_process : for_ever;
  }

  fault_plan draw() {
    const auto on = kinds();
    fault_plan plan;
    auto times = begins();
    const bool kills = std::ranges::find(on, fault_kind::kill) != on.end();
    if (limits_.masters > 0 && kills && below(4) == 0) {
      times.erase(times.begin());
      plan.faults.push_back(first_death());
    }
    for (const auto at_s : times) {
      fault f{.kind = on[below(on.size())], .at_s = at_s};
      const double most_s = last_end * limits_.horizon_s - at_s;
      f.lasts_s = three_digits(log_uniform(0.005 * limits_.horizon_s, most_s));
      if (f.kind == fault_kind::join)
        f.lasts_s.reset();
      if (draw_whom(f)) {
        draw_strength(f);
        plan.faults.push_back(std::move(f));
      }
    }
    return plan;
  }

private:
  std::uint32_t below(std::size_t bound) { return random_.below(static_cast<std::uint32_t>(bound)); }
  bool coin() { return below(2) == 0; }

  /// Each doubling between the bounds is equally likely, and within it the density is flat.
  double log_uniform(double low, double high) {
    std::uint32_t doublings = 0;
    for (double x = low; x < high; x *= 2)
      ++doublings;
    low = std::ldexp(low, static_cast<int>(below(doublings)));
    return low + (std::min(2 * low, high) - low) * random_.uniform_double();
  }

  std::size_t size_up_to(std::size_t most) {
    return static_cast<std::size_t>(log_uniform(1, static_cast<double>(std::max<std::size_t>(most, 1)) + 1));
  }

  std::size_t founders() const { return limits_.workers - limits_.comers; }
  std::size_t everybody() const { return limits_.workers + limits_.masters; }

  std::vector<rank> first(std::size_t count) const {
    std::vector<rank> ranks(count);
    std::iota(ranks.begin(), ranks.end(), rank{0});
    return ranks;
  }

  template <class T>
  std::vector<T> some(std::vector<T> items, std::size_t count) {
    random_.shuffle(std::span{items});
    items.resize(count);
    std::ranges::sort(items);
    return items;
  }

  /// Draws the workers that are never named. Where processes die, all workers of some nodes: the plan does not say
  /// which coordinators die, and these may have most of them.
  std::vector<rank> drawn_to_spare() {
    if (most_dead() == 0)
      return some(first(founders()), std::min(limits_.spare, founders()));
    fault all;
    for (const auto node : some(first(nodes()), std::min(most_dead() + least_nodes(), nodes())))
      all.nodes.push_back(node);
    return named_workers(all, founders(), limits_.workers_per_node);
  }

  /// Draws the kinds of this plan.
  std::vector<fault_kind> kinds() {
    std::vector<fault_kind> on;
    while (on.empty())
      for (std::size_t i = 0; i < (limits_.comers > 0 ? fault_kinds : first_of_churn); ++i) {
        const auto kind = static_cast<fault_kind>(i);
        const bool room = takes_away(kind) ? everybody() > limits_.spare : !strikes_links(kind) || everybody() > 1;
        if (coin() && room)
          on.push_back(kind);
      }
    return on;
  }

  std::vector<double> begins() {
    std::vector<double> result(1 + below(8));
    for (auto& at_s : result)
      at_s = three_digits(last_begin * limits_.horizon_s * random_.uniform_double());
    std::ranges::sort(result);
    return result;
  }

  /// A master dies before it has done anything, with its process or alone.
  fault first_death() {
    fault f{.kind = fault_kind::kill, .at_s = 0};
    f.lasts_s = three_digits(log_uniform(0.005 * limits_.horizon_s, last_end * limits_.horizon_s));
    f.workers = {static_cast<rank>(limits_.workers + below(limits_.masters))};
    f.processes = limits_.processes && most_dead() > 0 && coin();
    bury(f, !f.processes); // no other process takes its place
    if (f.processes)
      without_votes_.emplace_back(*f.lasts_s + regained_after_s, 1);
    return f;
  }

  /// Draws the targets of a fault. False if there are none.
  bool draw_whom(fault& f) {
    if (strikes_frames(f.kind)) {
      draw_links(f);
      return true;
    }
    if (f.kind == fault_kind::join)
      return draw_comers(f);
    if (takes_away(f.kind) && limits_.processes && coin())
      return draw_processes(f);
    auto candidates = first(f.kind == fault_kind::leave ? limits_.workers : everybody());
    if (takes_away(f.kind))
      std::erase_if(candidates, [&](rank i) { return dead_until_s_[i] >= f.at_s; });
    if (candidates.empty())
      return false;
    draw_victims(f, std::move(candidates));
    if (f.kind == fault_kind::partition) {
      f.one_way = below(4) == 0;
      without_votes_.emplace_back(f.at_s + *f.lasts_s + regained_after_s, cut_off_by(f));
      is_parted_ = true;
    }
    if (takes_away(f.kind))
      bury(f);
    return true;
  }

  /// Returns how many processes are on the smaller side of a partition. If it lasts, the others take their votes.
  std::size_t cut_off_by(const fault& partition) const {
    const auto named = named_workers(partition, everybody(), limits_.workers_per_node);
    std::set<std::size_t> inside, outside;
    for (rank i = 0; i < everybody(); ++i)
      (std::ranges::binary_search(named, i) ? inside : outside)
          .insert(i < limits_.workers ? i / limits_.workers_per_node : i); // each master is a process
    const auto on_both = std::ranges::count_if(inside, [&](std::size_t p) { return outside.contains(p); });
    return std::min(inside.size(), outside.size()) - static_cast<std::size_t>(on_both);
  }

  bool draw_comers(fault& f) {
    f.processes = limits_.processes && coin();
    auto candidates = first(limits_.workers);
    std::erase_if(candidates,
                  [&](rank i) { return dead_until_s_[i] != (f.processes ? for_ever_with_process : for_ever); });
    auto whole = whole_nodes(candidates);
    if (f.processes ? whole.empty() : candidates.empty())
      return false;
    if (!f.processes) {
      draw_victims(f, std::move(candidates));
    } else {
      const auto count = size_up_to(whole.size());
      f.nodes = some(std::move(whole), count);
    }
    for (const auto worker : named_workers(f, everybody(), limits_.workers_per_node))
      dead_until_s_[worker] = f.at_s;
    return true;
  }

  std::size_t nodes() const { return (founders() + limits_.workers_per_node - 1) / limits_.workers_per_node; }

  /// Most dead processes at a time, so that the other voters can agree.
  std::size_t most_dead() const {
    return limits_.processes ? (std::min(nodes() + limits_.masters, most_coordinators) - 1) / 2 : 0;
  }

  /// So many nodes have the `spare` workers, whichever they are; the last node may have fewer than others.
  std::size_t least_nodes() const {
    const auto per_node = limits_.workers_per_node;
    const auto of_last = (founders() + per_node - 1) % per_node + 1;
    const auto others = limits_.spare > of_last ? limits_.spare - of_last : 0;
    return 1 + (others + per_node - 1) / per_node;
  }

  /// Returns how many processes are dead, gone or cut off, or have been cut off and have no worker that would bring
  /// them their vote again.
  std::size_t without_votes_at(double at_s) const {
    std::size_t result = 0;
    for (const auto& [until_s, count] : without_votes_)
      result += until_s >= at_s ? count : 0;
    auto without_life = first(limits_.workers);
    std::erase_if(without_life, [&](rank i) {
      return dead_until_s_[i] >= for_ever_with_process || dead_until_s_[i] + regained_after_s < at_s;
    });
    if (is_parted_)
      result += whole_nodes(without_life).size();
    return result;
  }

  bool draw_processes(fault& f) {
    const auto away = without_votes_at(f.at_s);
    if (away >= most_dead())
      return false;
    auto count = size_up_to(most_dead() - away);
    bool may_stay_away = true;
    if (f.kind == fault_kind::kill && coin()) {
      if (away + least_nodes() >= nodes())
        return false; // masters' processes vote, too: the workers may be few processes'
      f.coordinators = count = std::min(count, nodes() - away - least_nodes());
      may_stay_away = limits_.masters == 0; // one of them may have a master, whose state nobody else has
    } else if (f.kind == fault_kind::kill && limits_.masters > 0 && coin()) {
      f.processes = true;
      f.workers = {static_cast<rank>(limits_.workers + below(limits_.masters))};
      if (dead_until_s_[f.workers.front()] >= f.at_s)
        return false;
      count = 1;
      may_stay_away = false; // no other process takes its place
    } else {
      f.processes = true;
      auto candidates = first(limits_.workers);
      std::erase_if(candidates, [&](rank i) { return dead_until_s_[i] >= f.at_s; });
      auto whole = whole_nodes(candidates);
      count = std::min(count, whole.size());
      if (count == 0)
        return false;
      f.nodes = some(std::move(whole), count);
    }
    bury(f, may_stay_away);
    without_votes_.emplace_back(f.lasts_s ? f.at_s + *f.lasts_s + regained_after_s : for_ever, count);
    return true;
  }

  void draw_victims(fault& f, std::vector<rank> candidates) {
    auto nodes = limits_.workers_per_node > 1 && coin() ? whole_nodes(candidates) : std::vector<std::size_t>{};
    const bool of_nodes = nodes.size() > (f.kind == fault_kind::partition ? 1 : 0); // not all nodes on one side
    const auto size = of_nodes ? nodes.size() : candidates.size();
    const bool may_be_all = takes_away(f.kind) || f.kind == fault_kind::join;
    const auto count = size_up_to(may_be_all ? size : size / 2);
    if (of_nodes)
      f.nodes = some(std::move(nodes), count);
    else
      f.workers = some(std::move(candidates), count);
  }

  /// The nodes that have only candidates as workers. Candidates ascend.
  std::vector<std::size_t> whole_nodes(const std::vector<rank>& candidates) const {
    const auto per_node = limits_.workers_per_node;
    std::vector<std::size_t> found((everybody() + per_node - 1) / per_node), whole;
    for (const auto worker : candidates)
      ++found[worker / per_node];
    for (std::size_t node = 0; node < found.size(); ++node)
      if (found[node] == std::min(per_node, everybody() - node * per_node))
        whole.push_back(node);
    return whole;
  }

  void bury(fault& f, bool may_stay_away = true) {
    if (may_stay_away && coin())
      f.lasts_s.reset();
    const double until_s = f.lasts_s ? f.at_s + *f.lasts_s : f.processes ? for_ever_with_process : for_ever;
    if (!f.coordinators) // the plan does not say which workers it strikes
      for (const auto worker : named_workers(f, everybody(), limits_.workers_per_node))
        dead_until_s_[worker] = until_s;
  }

  void draw_links(fault& f) {
    if (coin()) // absent: all links
      return;
    auto ranks = first(everybody());
    random_.shuffle(std::span{ranks});
    const auto half = static_cast<std::ptrdiff_t>(ranks.size() / 2);
    const auto which = below(3); // from some, to some, or both
    if (which != 1)
      f.from = some(std::vector(ranks.begin(), ranks.begin() + half), size_up_to(ranks.size() / 2));
    if (which != 0)
      f.to = some(std::vector(ranks.begin() + half, ranks.end()), size_up_to(ranks.size() / 2));
  }

  void draw_strength(fault& f) {
    switch (f.kind) {
    case fault_kind::kill:
    case fault_kind::pause:
    case fault_kind::partition:
    case fault_kind::leave:
    case fault_kind::join:
      break;
    case fault_kind::slow:
      f.factor = three_digits(log_uniform(1.1, 30));
      break;
    case fault_kind::throttle:
      f.bits_per_second = three_digits(log_uniform(1e4, 1e8));
      break;
    case fault_kind::reorder:
    case fault_kind::delay:
      f.seconds = three_digits(log_uniform(1e-4 * limits_.horizon_s, 0.1 * limits_.horizon_s));
      [[fallthrough]];
    case fault_kind::drop:
    case fault_kind::duplicate:
    case fault_kind::corrupt:
      f.rate = three_digits(log_uniform(0.001, 1));
      break;
    }
  }

  random_sequence random_;
  const chaos_limits limits_;
  std::vector<double> dead_until_s_;                          // by rank
  bool is_parted_ = false;                                    // or was
  std::vector<std::pair<double, std::size_t>> without_votes_; // end of the absence, number of processes
};

} // namespace

fault_plan draw_plan(std::uint64_t seed, const chaos_limits& limits) {
  if (limits.workers <= limits.comers || limits.workers > topology::max_workers || limits.workers_per_node == 0)
    throw error(errc::usage,
                fmt::format("a random fault plan for {} workers, {} on each node, of whom {} come later",
                            limits.workers, limits.workers_per_node, limits.comers),
                fmt::format("allowed: 1 to {} workers, one of them there when the run begins, and at least 1 on each "
                            "node",
                            topology::max_workers));
  if (!(limits.horizon_s >= 1e-3 && limits.horizon_s <= 1e9))
    throw error(errc::usage, fmt::format("the horizon of a random fault plan is {} s", limits.horizon_s),
                "allowed: 0.001 to 1e9 seconds");
  return generator{seed, limits}.draw();
}

} // namespace gossamer::actors
