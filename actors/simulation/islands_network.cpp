#include "gossamer/actors/simulation/detail/networks.hpp"
#include "gossamer/topology/islands.hpp"

#include <algorithm>

namespace gossamer::actors::detail {

namespace {

class islands_network_model final : public network {
public:
  islands_network_model(topology::islands where, const link_quality& between)
      : where_(std::move(where)), between_(between) {}

  link_quality link(rank from, rank to) const override { return joined(from, to) ? inside : between_; }
  card_rates card(rank) const override {
    const auto rate = std::max(inside.bits_per_second, between_.bits_per_second);
    return {rate, rate};
  }
  std::uint64_t line(rank from, rank to) const override {
    constexpr std::uint64_t beyond_nodes = std::uint64_t{1} << 63;
    return joined(from, to)
               ? link_number(from, to)
               : beyond_nodes | link_number(static_cast<rank>(where_.of(from)), static_cast<rank>(where_.of(to)));
  }
  std::optional<std::size_t> island(rank node) const override { return where_.of(node); }

private:
  static constexpr link_quality inside{.latency_s = 25e-6, .bits_per_second = 25e9};

  bool joined(rank a, rank b) const { return where_.of(a) == where_.of(b); }

  topology::islands where_;
  link_quality between_;
};

} // namespace

network_entry islands_network() {
  auto parameters = link_parameters("0.01", "100e6", "0");
  parameters.insert(parameters.begin(), {.key = "count",
                                         .kind = parameter::type::integer,
                                         .fallback = "4",
                                         .meaning = "of islands, whose sizes differ by one node at most",
                                         .min = 1,
                                         .max = static_cast<double>(max_nodes)});
  return {.about = {.name = "islands",
                    .summary = "data centres, or offices, with a slow line between any two",
                    .maths = "within an island as datacentre; from one island to another one a line with this latency "
                             "and bandwidth, which their nodes share",
                    .cost = "memory: O(islands)",
                    .parameters = std::move(parameters)},
          .make = [](const arguments& given, std::size_t nodes) -> std::shared_ptr<const network> {
            const auto count = std::min(static_cast<std::size_t>(given.integer("count")), nodes);
            return std::make_shared<islands_network_model>(
                topology::islands{topology::even_sizes(nodes, count)},
                link_quality{given.real("latency"), given.real("bandwidth"), given.real("jitter")});
          }};
}

} // namespace gossamer::actors::detail
