#include "gossamer/actors/simulation/detail/networks.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::actors {

namespace {

class same_link_everywhere final : public network {
public:
  explicit same_link_everywhere(const link_quality& everywhere) : everywhere_(everywhere) {}

  link_quality link(rank, rank) const override { return everywhere_; }
  card_rates card(rank) const override { return {everywhere_.bits_per_second, everywhere_.bits_per_second}; }

private:
  link_quality everywhere_;
};

network_entry uniform_entry(std::string name, std::string summary, std::string latency, std::string bandwidth,
                            std::string reference = {}) {
  return {.about = {.name = std::move(name),
                    .summary = std::move(summary),
                    .maths = "a lone frame of S bits takes latency + S / bandwidth + Exp(jitter)",
                    .reference = std::move(reference),
                    .cost = "memory: O(1)",
                    .parameters = detail::link_parameters(std::move(latency), std::move(bandwidth), "0")},
          .make = [](const arguments& given, std::size_t) {
            return detail::uniform_network({given.real("latency"), given.real("bandwidth"), given.real("jitter")});
          }};
}

network_entry ideal() {
  return {.about = {.name = "ideal",
                    .summary = "frames take no time",
                    .maths = "latency 0, bandwidth infinite",
                    .cost = "memory: O(1)"},
          .make = [](const arguments&, std::size_t) {
            return detail::uniform_network({.bits_per_second = std::numeric_limits<double>::infinity()});
          }};
}

network_entry tang(std::string_view which, std::string_view described, std::string latency, std::string bandwidth) {
  return uniform_entry(fmt::format("tang-{}", which), fmt::format("a cluster with {}", described), std::move(latency),
                       std::move(bandwidth),
                       "Tang, Gan, Zhang, Zhang, Liu, Communication compression for decentralized training, "
                       "NeurIPS 2018, figures 2 and 3; their latency is taken as one way");
}

} // namespace

std::shared_ptr<const network> detail::uniform_network(const link_quality& everywhere) {
  return std::make_shared<same_link_everywhere>(everywhere);
}

std::vector<parameter> detail::link_parameters(std::string latency, std::string bandwidth, std::string jitter) {
  using enum parameter::type;
  return {{.key = "latency",
           .kind = time,
           .fallback = std::move(latency),
           .meaning = "one way, in seconds",
           .min = 0,
           .max = 3600},
          {.key = "bandwidth",
           .kind = rate,
           .fallback = std::move(bandwidth),
           .meaning = "in each direction, in bits per second; may be inf",
           .min = 1},
          {.key = "jitter",
           .kind = time,
           .fallback = std::move(jitter),
           .meaning = "mean of the random extra latency, in seconds",
           .min = 0,
           .max = 3600}};
}

const registry<network_entry>& networks() {
  static const std::array entries{
      ideal(),
      uniform_entry("uniform", "the same link between any two nodes", "0.001", "1e9"),
      uniform_entry("datacentre", "25 Gb/s Ethernet under one roof", "25e-6", "25e9"),
      detail::islands_network(),
      tang("best", "good links: 1.4 Gb/s, 0.13 ms", "0.00013", "1.4e9"),
      tang("latency", "a high latency: 1.4 Gb/s, 20 ms", "0.02", "1.4e9"),
      tang("bandwidth", "a low bandwidth: 5 Mb/s, 0.13 ms", "0.00013", "5e6"),
      tang("both", "a high latency and a low bandwidth: 5 Mb/s, 20 ms", "0.02", "5e6"),
      detail::wan_network(),
      detail::matrix_network(),
      detail::hosts_network(),
  };
  static const registry<network_entry> table{"network", entries};
  return table;
}

std::shared_ptr<const network> make_network(std::string_view text, std::size_t nodes,
                                            std::span<const link_override> overrides) {
  const auto [entry, values] = networks().resolve(text);
  if (nodes < 1 || nodes > max_nodes)
    throw error(errc::usage, fmt::format("network '{}' cannot have {} nodes", text, nodes),
                fmt::format("allowed: 1 to {}", max_nodes));
  auto result = entry.make(values, nodes);
  if (result->hosts() != nullptr)
    nodes = result->hosts()->hosts.size();
  return overrides.empty() ? result : with_overrides(std::move(result), nodes, overrides);
}

} // namespace gossamer::actors
