#include "gossamer/actors/hosting/merged_trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace gossamer::actors {

using kind = trace_moment::kind;

clock_alignment::process merged_trace::open(std::string place, std::uint32_t beginning) {
  processes_.push_back({std::move(place), beginning, std::numeric_limits<std::int64_t>::max()});
  return static_cast<clock_alignment::process>(processes_.size() - 1);
}

void merged_trace::add(clock_alignment::process from, std::span<const trace_moment> moments, std::int64_t here_ns) {
  if (moments.empty())
    return;
  auto& way_ns = processes_.at(from).way_ns;
  way_ns = std::min(way_ns, here_ns - moments.back().at_ns);
  for (const auto& m : moments) {
    if (m.what == kind::over)
      left_out_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, m.value));
    else if (moments_.size() < limit_)
      moments_.push_back({m, from});
    else
      ++left_out_;
  }
}

/// Returns the frames whose sending and delivery are both known.
std::vector<merged_trace::pair> merged_trace::frames_in(const std::vector<placed>& all) const {
  const auto way_of = [&](const placed& p, rank sender, rank receiver) {
    return std::tuple{processes_[p.from].beginning, sender, receiver, p.what.incarnation, p.what.label};
  };
  std::map<decltype(way_of(all[0], 0, 0)), std::size_t> sent;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].what.what == kind::sent)
      sent.try_emplace(way_of(all[k], all[k].what.who, all[k].what.other), k);
  std::vector<pair> result;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].what.what == kind::delivered)
      if (const auto found = sent.find(way_of(all[k], all[k].what.other, all[k].what.who)); found != sent.end())
        result.push_back({found->second, k});
  return result;
}

/// Returns what the clock of each process lacks.
std::vector<std::int64_t> merged_trace::offsets(const std::vector<placed>& all, const std::vector<pair>& frames) const {
  clock_alignment clocks;
  for (const auto& f : frames)
    if (all[f.sent].from != all[f.delivered].from)
      clocks.crossed(all[f.sent].from, all[f.sent].what.at_ns, all[f.delivered].from, all[f.delivered].what.at_ns);
  const auto reference = all.front().from;
  const auto measured = clocks.offsets(processes_.size(), reference);
  std::vector<std::int64_t> result;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const bool spoke = processes_[p].way_ns != std::numeric_limits<std::int64_t>::max();
    result.push_back(measured[p] ? *measured[p] : spoke ? processes_[p].way_ns - processes_[reference].way_ns : 0);
  }
  return result;
}

std::vector<merged_trace::placed> merged_trace::in_order() const {
  auto all = moments_;
  if (all.empty())
    return all;
  const auto frames = frames_in(all);
  const auto lacks_ns = offsets(all, frames);
  auto first_ns = std::numeric_limits<std::int64_t>::max();
  for (auto& m : all)
    first_ns = std::min(first_ns, m.what.at_ns += lacks_ns[m.from]);
  for (const auto& f : frames) // where clocks have drifted apart meanwhile
    all[f.delivered].what.at_ns = std::max(all[f.delivered].what.at_ns, all[f.sent].what.at_ns);
  for (auto& m : all)
    m.what.at_ns -= first_ns;
  std::ranges::stable_sort(all, {}, [](const placed& m) {
    return std::pair{m.what.at_ns, m.what.what == kind::delivered};
  });
  return all;
}

void merged_trace::draw(run_picture& into) const {
  std::uint32_t beginning = 0;
  for (const auto& m : in_order()) {
    const auto& [place, of, _] = processes_[m.from];
    if (of > std::exchange(beginning, std::max(beginning, of)))
      into.begin_again();
    into.draw(m.what, place);
  }
}

} // namespace gossamer::actors
