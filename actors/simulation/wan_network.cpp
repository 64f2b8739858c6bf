#include "gossamer/actors/simulation/detail/networks.hpp"

#include <algorithm>
#include <array>

namespace gossamer::actors::detail {

namespace {

constexpr std::size_t regions = 4;

// One way, in milliseconds: about half of the round trips between Frankfurt, Virginia, Oregon and Singapore that public
// clouds show.
constexpr std::array<std::array<double, regions>, regions> latency_ms{{
    {1, 45, 72, 80},
    {45, 1, 32, 110},
    {72, 32, 1, 83},
    {80, 110, 83, 1},
}};

// Rates of the lines that join nodes to the world, in turn.
constexpr std::array access_bits_per_second{1e9, 500e6, 250e6, 100e6};

class wan final : public network {
public:
  wan(const arguments& given, std::size_t nodes)
      : nodes_(nodes), blocks_(given.is("placement", "blocks")), jitter_share_(given.real("jitter_share")) {}

  link_quality link(rank from, rank to) const override {
    const double latency = 1e-3 * latency_ms[region(from)][region(to)];
    return {latency, std::min(access(from), access(to)), jitter_share_ * latency};
  }
  card_rates card(rank node) const override { return {access(node), access(node)}; }

private:
  std::size_t region(rank node) const { return blocks_ ? node * regions / nodes_ : node % regions; }
  double access(rank node) const {
    return access_bits_per_second[(blocks_ ? node : node / regions) % access_bits_per_second.size()];
  }

  std::size_t nodes_;
  bool blocks_;
  double jitter_share_;
};

} // namespace

network_entry wan_network() {
  return {
      .about = {.name = "wan",
                .summary = "sites on three continents, joined by the internet",
                .maths =
                    "four regions (Frankfurt, Virginia, Oregon, Singapore), 1 ms within one and 32 to 110 ms between "
                    "two; nodes have lines of 1 Gb/s, 500, 250 and 100 Mb/s in turn; "
                    "a link is as fast as the slower line",
                .cost = "memory: O(1)",
                .parameters = {{.key = "placement",
                                .kind = parameter::type::choice,
                                .fallback = "blocks",
                                .meaning = "whether neighbouring numbers share a region, or take turns",
                                .choices = {"blocks", "turns"}},
                               {.key = "jitter_share",
                                .fallback = "0.05",
                                .meaning = "mean of the random extra latency, as a share of the latency",
                                .min = 0,
                                .max = 10}}},
      .make = [](const arguments& given, std::size_t nodes) -> std::shared_ptr<const network> {
        return std::make_shared<wan>(given, nodes);
      }};
}

} // namespace gossamer::actors::detail
