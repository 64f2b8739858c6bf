#include "gossamer/actors/faults/detail/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace gossamer::actors {

namespace {
constexpr std::array<std::string_view, fault_kinds> names{"kill",  "pause",     "slow",    "partition",
                                                          "drop",  "duplicate", "reorder", "corrupt",
                                                          "delay", "throttle",  "leave",   "join"};
}

std::string_view to_string(fault_kind kind) noexcept { return names[static_cast<std::size_t>(kind)]; }

namespace detail {

namespace {

using enum fault_kind;

constexpr kind_set of_workers{kill, pause, slow, leave, join};
constexpr kind_set names_workers{kill, pause, slow, leave, join, partition};
constexpr kind_set on_links = kind_set::all_but(of_workers);
constexpr double longest_s = 1e9; // in nanoseconds it fits into 64 bits
constexpr double shortest_s = 1e-9;

constexpr std::array keys{
    fault_key{"workers", &fault::workers, names_workers, kind_set{}, "ranks, such as [0, 3]"},
    fault_key{"nodes", &fault::nodes, names_workers, kind_set{}, "groups of consecutive ranks, such as [1]"},
    fault_key{"from", &fault::from, on_links, kind_set{}, "ranks that send, such as [0, 3]"},
    fault_key{"to", &fault::to, on_links, kind_set{}, "ranks that receive, such as [0, 3]"},
    fault_key{"processes", &fault::processes, kind_set{kill, leave, join}, kind_set{},
              "it happens to the whole processes of these workers"},
    fault_key{"coordinators", &fault::coordinators, kind_set{kill}, kind_set{},
              "processes that vote, the one that leads first", 1, most_coordinators},
    fault_key{"one-way", &fault::one_way, kind_set{partition}, kind_set{}, "only frames to the other side are lost"},
    fault_key{"at", &fault::at_s, kind_set::all(), kind_set{}, "seconds after the start", 0, longest_s, quantity::time},
    fault_key{"at-step", &fault::at_step, kind_set::all(), kind_set{}, "gradients of the first worker to get there", 0,
              0x1p53},
    fault_key{"for", &fault::lasts_s, kind_set::all_but(kind_set{join}), kind_set{}, "seconds; without it for ever",
              shortest_s, longest_s, quantity::time},
    fault_key{"rate", &fault::rate, kind_set{drop, duplicate, reorder, corrupt, delay}, kind_set{},
              "share of the frames that are hit", 1e-9, 1},
    fault_key{"factor", &fault::factor, kind_set{slow}, kind_set{slow}, "times as long for a gradient", 1, 1e6},
    fault_key{"seconds", &fault::seconds, kind_set{reorder, delay}, kind_set{reorder, delay},
              "by which frames are late", shortest_s, longest_s, quantity::time},
    fault_key{"bits-per-second", &fault::bits_per_second, kind_set{throttle}, kind_set{throttle}, "on each link", 1,
              1e15, quantity::rate},
};

template <class... Cases>
struct overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>; // for clang 14

/// "plan.toml:3: rate of drop"
std::string subject(const fault_key& key, const fault& f, std::string_view where) {
  return fmt::format("{}: {} of {}", where, key.name, to_string(f.kind));
}

void check_number(const fault_key& key, const fault& f, double value, std::string_view where) {
  if (!(value >= key.min && value <= key.max)) // this form refuses NaN as well
    throw error(errc::usage, fmt::format("{} is {}, which is out of range", subject(key, f, where), value),
                "allowed: " + key.allowed());
}

void check_shape_of_partition(const fault& f, std::string_view where) {
  const bool side = !f.workers.empty() || !f.nodes.empty();
  const bool pair = !f.from.empty() && !f.to.empty();
  if (side == pair || (side && (!f.from.empty() || !f.to.empty())))
    throw error(errc::usage, fmt::format("{}: the two sides of this partition are not clear", where),
                "give workers or nodes, which are cut off from all others; or give both from and to");
  const std::set<rank> first(f.from.begin(), f.from.end());
  for (const auto worker : f.to)
    if (first.contains(worker))
      throw error(errc::usage, fmt::format("{}: worker {} is on both sides of this partition", where, worker),
                  "name it in from or in to");
}

} // namespace

std::vector<std::string> kind_set::names() const {
  std::vector<std::string> result;
  for (std::size_t kind = 0; kind < fault_kinds; ++kind)
    if (contains(static_cast<fault_kind>(kind)))
      result.emplace_back(to_string(static_cast<fault_kind>(kind)));
  return result;
}

bool fault_key::given(const fault& f) const {
  static const fault defaults;
  return std::visit([&](auto at) { return f.*at != defaults.*at; }, field);
}

std::string fault_key::allowed() const {
  const auto number = [this](std::string_view noun) {
    const auto units = !of                     ? ""
                       : *of == quantity::time ? ", or a text such as \"50ms\""
                                               : ", or a text such as \"20Mb/s\"";
    return fmt::format("{} from {:g} to {:g} ({}){}", noun, min, max, meaning, units);
  };
  const auto list = [this] { return fmt::format("a list of {}", meaning); };
  return std::visit(overloaded{[&](std::vector<rank> fault::*) { return list(); },
                               [&](std::vector<std::size_t> fault::*) { return list(); },
                               [&](double fault::*) { return number("a number"); },
                               [&](std::optional<double> fault::*) { return number("a number"); },
                               [&](std::optional<std::uint64_t> fault::*) { return number("a whole number"); },
                               [&](bool fault::*) { return fmt::format("true or false ({})", meaning); }},
                    field);
}

std::span<const fault_key> fault_keys() { return keys; }

void check_use(const fault_key& key, const fault& f, std::string_view where) {
  if (!key.takes.contains(f.kind))
    throw error(errc::usage, fmt::format("{}: {} has no {}", where, to_string(f.kind), key.name),
                fmt::format("{} is for {}", key.name, fmt::join(key.takes.names(), ", ")));
}

void check_value(const fault_key& key, const fault& f, std::string_view where) {
  const auto list = [&](auto items) {
    std::ranges::sort(items);
    if (const auto twice = std::ranges::adjacent_find(items); twice != items.end())
      throw error(errc::usage, fmt::format("{} names {} twice", subject(key, f, where), *twice));
  };
  std::visit(overloaded{[&](std::vector<rank> fault::*at) { list(f.*at); },
                        [&](std::vector<std::size_t> fault::*at) { list(f.*at); },
                        [&](double fault::*at) { check_number(key, f, f.*at, where); }, [&](bool fault::*) {},
                        [&](auto at) {
                          if (f.*at)
                            check_number(key, f, static_cast<double>(*(f.*at)), where);
                        }},
             key.field);
}

void check_shape(const fault& f, std::string_view where) {
  for (const auto& key : keys)
    if (key.needs.contains(f.kind) && !key.given(f))
      throw error(errc::usage, fmt::format("{}: this {} needs {}", where, to_string(f.kind), key.name),
                  fmt::format("{} takes {}", key.name, key.allowed()));
  if (f.at_step && f.at_s != 0)
    throw error(errc::usage, fmt::format("{}: this {} has both at and at-step", where, to_string(f.kind)),
                "give one of them");
  const bool names_somebody = !f.workers.empty() || !f.nodes.empty();
  if (f.coordinators && (names_somebody || f.processes))
    throw error(errc::usage, fmt::format("{}: this kill has coordinators and something else to strike", where),
                "coordinators are found when it begins: give them alone, and the others in a fault of their own");
  if (of_workers.contains(f.kind) && !names_somebody && !f.coordinators)
    throw error(errc::usage, fmt::format("{}: this {} strikes nobody", where, to_string(f.kind)),
                f.kind == kill ? "give workers or nodes, or both; or else coordinators"
                               : "give workers or nodes, or both");
  if (f.kind == partition)
    check_shape_of_partition(f, where);
  else if (f.from.size() == 1 && f.from == f.to)
    throw error(errc::usage, fmt::format("{}: this {} is on no link", where, to_string(f.kind)),
                "from and to name the same worker; links lead to others");
}

} // namespace detail
} // namespace gossamer::actors
