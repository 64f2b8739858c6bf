#include "gossamer/actors/faults/plan.hpp"

#include "gossamer/actors/faults/detail/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

template <class T>
void check_exists(std::string_view key, const std::vector<T>& items, std::size_t count, const fault& f,
                  std::string_view where) {
  for (const auto item : items)
    if (item >= count)
      throw error(errc::usage,
                  fmt::format("{}: {} of {} names {}, which does not exist", where, key, to_string(f.kind), item),
                  fmt::format("allowed: 0 to {}{}", count - 1,
                              f.kind == fault_kind::join ? "; --max-workers makes room for others" : ""));
}

void check_fault(const fault& f, std::string_view where, std::size_t workers, std::size_t workers_per_node) {
  for (const auto& key : detail::fault_keys()) {
    if (!key.given(f))
      continue;
    detail::check_use(key, f, where);
    detail::check_value(key, f, where);
  }
  detail::check_shape(f, where);
  check_exists("workers", f.workers, workers, f, where);
  check_exists("from", f.from, workers, f, where);
  check_exists("to", f.to, workers, f, where);
  check_exists("nodes", f.nodes, (workers + workers_per_node - 1) / workers_per_node, f, where);
  if (f.kind == fault_kind::partition && f.from.empty()
      && named_workers(f, workers, workers_per_node).size() == workers)
    throw error(errc::usage, fmt::format("{}: nobody is on the other side of this partition", where),
                fmt::format("leave at least one of the {} workers out", workers));
}

std::string place_of(const fault_plan& plan, std::size_t i) {
  const auto& written = plan.faults[i].written_at.text;
  return written.empty() ? fmt::format("fault {} of the plan", i) : written;
}

} // namespace

bool fault_plan::strikes_processes() const noexcept { return std::ranges::any_of(faults, &fault::strikes_processes); }

bool fault_plan::needs_steps() const noexcept {
  return std::ranges::any_of(faults, [](const fault& f) { return f.at_step.has_value(); });
}

double fault_plan::last_end_s() const noexcept {
  double last = 0;
  for (const auto& f : faults)
    last = std::max(last, last_switch_s(f));
  return last;
}

std::vector<rank> named_workers(const fault& f, std::size_t workers, std::size_t workers_per_node) {
  std::vector<bool> named(workers);
  const auto name = [&](std::size_t worker) {
    if (worker < workers)
      named[worker] = true;
  };
  std::ranges::for_each(f.workers, name);
  for (const auto node : f.nodes)
    if (node < workers) // there are no more nodes than workers, and the product is small
      for (std::size_t i = 0; i < workers_per_node; ++i)
        name(node * workers_per_node + i);
  std::ranges::for_each(f.from, name);
  std::ranges::for_each(f.to, name);
  const bool everybody = f.workers.empty() && f.nodes.empty() && f.from.empty() && f.to.empty();
  std::vector<rank> result;
  for (rank worker = 0; worker < workers; ++worker)
    if (everybody || named[worker])
      result.push_back(worker);
  return result;
}

void check(const fault_plan& plan, std::size_t workers, std::size_t workers_per_node) {
  if (workers == 0 || workers_per_node == 0)
    throw error(errc::usage, fmt::format("a fault plan for {} workers, {} on each node", workers, workers_per_node),
                "both are at least 1");
  for (std::size_t i = 0; i < plan.faults.size(); ++i)
    check_fault(plan.faults[i], place_of(plan, i), workers, workers_per_node);
}

void check_without_processes(const fault_plan& plan) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i)
    if (const auto& f = plan.faults[i]; f.strikes_processes())
      throw error(errc::usage,
                  fmt::format("{}: this {} is one of processes, which only the simulated world has in its hands",
                              place_of(plan, i), to_string(f.kind)),
                  "run it with gossamer simulate, or name workers alone: leave out processes and coordinators");
}

} // namespace gossamer::actors
