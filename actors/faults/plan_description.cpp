// Sentences for people about the effects of a fault.
#include "gossamer/actors/faults/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace gossamer::actors {

namespace {

/// "3", "0 and 1", "0-4, 7 and 9".
template <class T>
std::string list(std::vector<T> items) {
  std::ranges::sort(items);
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    for (end = begin + 1; end < items.size() && items[end] == items[end - 1] + 1;)
      ++end;
    if (end - begin < 3)
      end = begin + 1;
    parts.push_back(end - begin == 1 ? fmt::format("{}", items[begin])
                                     : fmt::format("{}-{}", items[begin], items[end - 1]));
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

template <class T>
std::string group(std::string_view noun, const std::vector<T>& items) {
  return fmt::format("{}{} {}", noun, items.size() == 1 ? "" : "s", list(items));
}

std::string victims(const fault& f) {
  if (f.nodes.empty())
    return group("worker", f.workers);
  return f.workers.empty() ? group("node", f.nodes)
                           : fmt::format("{} and {}", group("worker", f.workers), group("node", f.nodes));
}

bool one_victim(const fault& f) { return f.workers.size() + f.nodes.size() == 1; }

std::string links(const fault& f) {
  return (f.from.empty() ? "" : " from " + group("worker", f.from))
         + (f.to.empty() ? "" : " to " + group("worker", f.to));
}

std::string frames(const fault& f) {
  const auto share = f.rate < 1 ? fmt::format("{:.3g} % of", 100 * f.rate) : "all";
  return f.from.empty() && f.to.empty() ? share + (f.rate < 1 ? " all frames" : " frames")
                                        : share + (f.rate < 1 ? " the frames" : " frames") + links(f);
}

/// "workers 0 and 1"; or "the process of worker 3".
std::string parties(const fault& f) {
  return f.processes ? fmt::format("the process{} of {}", one_victim(f) ? "" : "es", victims(f)) : victims(f);
}

std::string kill(const fault& f) {
  if (f.coordinators)
    return *f.coordinators == 1
               ? "the process that leads is dead"
               : fmt::format("the process that leads and {} more that vote are dead", *f.coordinators - 1);
  return fmt::format("{} {} dead", parties(f), one_victim(f) ? "is" : "are");
}

std::string what(const fault& f) {
  switch (f.kind) {
  case fault_kind::kill:
    return kill(f);
  case fault_kind::pause:
    return fmt::format("{} {} still", victims(f), one_victim(f) ? "stands" : "stand");
  case fault_kind::slow:
    return fmt::format("{} {} {:.6g} times as long for a gradient", victims(f), one_victim(f) ? "takes" : "take",
                       f.factor);
  case fault_kind::partition: {
    const auto first = f.from.empty() ? victims(f) : group("worker", f.from);
    const auto second = f.to.empty() ? "the others" : group("worker", f.to);
    return f.one_way ? fmt::format("nothing gets from {} to {}", first, second)
                     : fmt::format("nothing gets from {} to {} or back", first, second);
  }
  case fault_kind::drop:
    return frames(f) + " are lost";
  case fault_kind::duplicate:
    return frames(f) + " arrive twice";
  case fault_kind::reorder:
    return fmt::format("{} are held back up to {:.6g} s and overtaken", frames(f), f.seconds);
  case fault_kind::corrupt:
    return frames(f) + " are damaged";
  case fault_kind::delay:
    return fmt::format("{} come {:.6g} s late", frames(f), f.seconds);
  case fault_kind::throttle:
    return fmt::format("each link{} carries at most {:.6g} bits a second", links(f), f.bits_per_second);
  case fault_kind::leave:
    return fmt::format("{} {} gone", parties(f), one_victim(f) ? "is" : "are");
  case fault_kind::join:
    return fmt::format("{} {} there", parties(f), one_victim(f) ? "is" : "are");
  }
  return "nothing happens";
}

std::string when(const fault& f) {
  if (f.at_step)
    return f.lasts_s ? fmt::format("for {:.6g} s from step {} on", *f.lasts_s, *f.at_step)
                     : fmt::format("from step {} on", *f.at_step);
  return f.lasts_s ? fmt::format("from {:.6g} s to {:.6g} s", f.at_s, f.at_s + *f.lasts_s)
                   : fmt::format("from {:.6g} s on", f.at_s);
}

} // namespace

std::string describe(const fault& f) { return what(f) + " " + when(f); }

/// The times of steps are unknown: these faults are the last.
std::string describe_missed(const std::vector<fault>& faults) {
  if (faults.empty())
    return {};
  const auto begin = [](const fault& f) { return std::tuple{f.at_step.has_value(), f.at_s, f.at_step.value_or(0)}; };
  const auto& first = *std::ranges::min_element(faults, {}, begin);
  if (faults.size() == 1)
    return fmt::format("1 fault of the plan has not begun: {}", describe(first));
  return fmt::format("{} faults of the plan have not begun; the first of them: {}", faults.size(), describe(first));
}

} // namespace gossamer::actors
