#include "gossamer/actors/faults/board.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/philox.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

std::vector<bool> members(const std::vector<rank>& ranks, std::size_t workers) {
  std::vector<bool> result(ranks.empty() ? 0 : workers);
  for (const auto worker : ranks)
    result[worker] = true;
  return result;
}

/// The random numbers of one frame, for hits and their sizes. Words 4k to 4k + 3 of the link's part of the table belong
/// to kind k.
class chances {
public:
  chances(std::uint64_t seed, rank from, rank to, std::uint64_t number)
      : stream_(seed, from, purpose::faults), number_(number), first_(std::uint64_t{to} << 32) {}

  bool hits(const fault& f) const { return f.rate >= 1 || draw(f.kind, 0) < f.rate; }
  /// In (0, 1].
  double share(fault_kind kind) const { return 1 - draw(kind, 1); }

private:
  double draw(fault_kind kind, std::uint64_t which) const {
    return stream_.word(number_, first_ + 4 * static_cast<std::uint64_t>(kind) + which) * 0x1p-32;
  }

  random_stream stream_;
  std::uint64_t number_;
  std::uint64_t first_;
};

} // namespace

bool fault_board::link_set::contains(rank a, rank b) const noexcept {
  const auto leads = [this](rank x, rank y) { return (from.empty() || from[x]) && (to.empty() || to[y]); };
  return leads(a, b) || (both_ways && leads(b, a));
}

fault_board::fault_board(fault_plan plan, std::size_t workers, std::size_t workers_per_node, std::uint64_t seed)
    : live_(plan.live), workers_(workers), workers_per_node_(workers_per_node), seed_(seed) {
  check(plan, workers, workers_per_node);
  for (auto& f : plan.faults)
    faults_.emplace(faults_.size(), std::move(f));
}

fault_plan fault_board::plan() const {
  const std::scoped_lock lock{mutex_};
  fault_plan all{.faults = {}, .live = live_};
  for (const auto& [index, f] : faults_)
    all.faults.push_back(f);
  return all;
}

std::size_t fault_board::count() const {
  const std::scoped_lock lock{mutex_};
  return faults_.empty() ? 0 : faults_.rbegin()->first + 1;
}

bool fault_board::has(std::size_t index) const {
  const std::scoped_lock lock{mutex_};
  return faults_.contains(index);
}

fault fault_board::at(std::size_t index) const {
  const std::scoped_lock lock{mutex_};
  return faults_.at(index);
}

double fault_board::last_end_s() const {
  const std::scoped_lock lock{mutex_};
  double last = 0;
  for (const auto& [index, f] : faults_)
    last = std::max(last, last_switch_s(f));
  return last;
}

void fault_board::add(std::size_t index, fault f) {
  check({.faults = {f}}, workers_, workers_per_node_);
  const std::scoped_lock lock{mutex_};
  if (faults_.size() >= most_faults)
    throw error(errc::usage, fmt::format("this run has had {} faults already", faults_.size()), "start another run");
  faults_.insert_or_assign(index, std::move(f));
}

void fault_board::set_length(std::size_t index, double lasts_s) {
  const std::scoped_lock lock{mutex_};
  faults_.at(index).lasts_s = lasts_s;
}

fault_board::link_set fault_board::links_of(const fault& f) const {
  const bool partition = f.kind == fault_kind::partition;
  link_set links{members(f.from, workers_), members(f.to, workers_), partition && !f.one_way};
  if (partition && f.from.empty()) {
    links.from = members(named_workers(f, workers_, workers_per_node_), workers_);
    links.to = links.from;
    links.to.flip();
  }
  return links;
}

void fault_board::begin(std::size_t index, double until_s) {
  const std::scoped_lock lock{mutex_};
  GOSSAMER_ASSERT(faults_.contains(index), "only faults of the plan begin");
  const auto& f = faults_.at(index);
  on_.insert(index);
  awaited_.erase(index);
  if (f.kind == fault_kind::slow)
    slow_[index] = named_workers(f, workers_, workers_per_node_);
  else if (strikes_links(f.kind))
    on_links_.insert_or_assign(index, link_fault{until_s, links_of(f)});
  update_quiet_time();
}

void fault_board::end(std::size_t index) {
  const std::scoped_lock lock{mutex_};
  on_.erase(index);
  slow_.erase(index);
  if (on_links_.erase(index) > 0 && faults_.at(index).kind == fault_kind::throttle)
    for (auto& [link, q] : queues_)
      q.free_at_s = 0;
  update_quiet_time();
}

bool fault_board::is_on(std::size_t index) const {
  const std::scoped_lock lock{mutex_};
  return on_.contains(index);
}

void fault_board::await(std::size_t index) {
  const std::scoped_lock lock{mutex_};
  GOSSAMER_ASSERT(faults_.contains(index), "only faults of the plan are awaited");
  awaited_.insert(index);
}

std::vector<fault> fault_board::awaited() const {
  const std::scoped_lock lock{mutex_};
  std::vector<fault> result;
  for (const auto index : awaited_)
    result.push_back(faults_.at(index));
  return result;
}

void fault_board::update_quiet_time() {
  const double& from = on_links_.empty() ? last_in_order_s_ : for_ever;
  quiet_from_s_.store(from, std::memory_order_relaxed);
}

verdict fault_board::judge(rank from, rank to, std::uint64_t number, std::size_t wire_bytes, double now_s) {
  if (now_s >= quiet_from_s_.load(std::memory_order_relaxed))
    return {};
  const std::scoped_lock lock{mutex_};
  const chances chance{seed_, from, to, number};
  auto& q = queues_[std::uint64_t{from} << 32 | to];
  verdict v;
  double passes_s = now_s, late_s = 0, held_s = 0;
  for (const auto& [index, on] : on_links_) {
    const auto& f = faults_.at(index);
    if (!on.links.contains(from, to) || !chance.hits(f))
      continue;
    v.lost |= f.kind == fault_kind::partition || f.kind == fault_kind::drop;
    v.corrupted |= f.kind == fault_kind::corrupt;
    v.copies += f.kind == fault_kind::duplicate;
    if (f.kind == fault_kind::delay)
      late_s += f.seconds;
    if (f.kind == fault_kind::reorder)
      held_s += f.seconds * chance.share(f.kind);
    if (f.kind == fault_kind::throttle)
      passes_s = std::max(
          passes_s, std::min(std::max(now_s, q.free_at_s) + 8.0 * static_cast<double>(wire_bytes) / f.bits_per_second,
                             std::max(now_s, on.until_s)));
  }
  q.free_at_s = passes_s;
  if (v.lost)
    return {.lost = true, .copies = 0};
  v.delay_s = held_s > 0 ? passes_s + late_s + held_s - now_s : q.arrive_in_order(passes_s + late_s) - now_s;
  last_in_order_s_ = std::max(last_in_order_s_, q.in_order_s);
  return v;
}

bool fault_board::parts(std::span<const rank> from, std::span<const rank> to) const {
  const std::scoped_lock lock{mutex_};
  const auto is_cut = [this](rank a, rank b) {
    return std::ranges::any_of(on_links_, [&](const auto& on) {
      return faults_.at(on.first).kind == fault_kind::partition && on.second.links.contains(a, b);
    });
  };
  return std::ranges::all_of(from,
                             [&](rank a) { return std::ranges::all_of(to, [&](rank b) { return is_cut(a, b); }); });
}

double fault_board::slow_down(rank worker) const {
  const std::scoped_lock lock{mutex_};
  double product = 1;
  for (const auto& [index, workers] : slow_)
    if (std::ranges::binary_search(workers, worker))
      product *= faults_.at(index).factor;
  return product;
}

} // namespace gossamer::actors
