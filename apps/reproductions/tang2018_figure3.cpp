// Tang et al. (2018), figure 3: the time of an epoch against bandwidth and latency.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::apps {

namespace words_of_tang2018_figure3 {

constexpr auto central = "all-reduce, 32 bits", gossip = "D-PSGD, 32 bits", small = "ECD-PSGD, 8 bits";
constexpr double workers = 8, weights = 270'310, iterations = 49, computing_s = 4;

struct condition {
  char panel;
  double latency, bandwidth;
  std::string name() const { return fmt::format("{}: {:.4g} Mb/s, {:g} ms", panel, 1e-6 * bandwidth, 1e3 * latency); }
};

using conditions = std::vector<condition>;

conditions grid(bool quick) {
  conditions all;
  const auto bandwidths = quick ? std::vector{1.4e9, 5e6} : std::vector{1.4e9, 20e6, 10e6, 20e6 / 3, 5e6};
  const auto latencies = quick ? std::vector{0.00013, 0.02} : std::vector{0.00013, 0.005, 0.01, 0.015, 0.02};
  for (const auto& [panel, latency] : {std::pair{'a', 0.00013}, {'b', 0.02}})
    for (const double bandwidth : bandwidths)
      all.push_back({panel, latency, bandwidth});
  for (const auto& [panel, bandwidth] : {std::pair{'c', 1.4e9}, {'d', 5e6}})
    for (const double latency : latencies)
      all.push_back({panel, latency, bandwidth});
  return all;
}

/// @param smaller factor of the model and of the bandwidth, so that times stay
variant setting(const condition& c, double smaller) {
  const bool of_bandwidth = c.panel == 'a' || c.panel == 'b';
  const auto fixed =
      of_bandwidth ? fmt::format("{:g} ms", 1e3 * c.latency) : fmt::format("{:g} Mb/s", 1e-6 * c.bandwidth);
  return {.name = c.name(),
          .given = {"--network", fmt::format("uniform:latency={},bandwidth={:.6g}", c.latency, smaller * c.bandwidth)},
          .x = of_bandwidth ? 5e6 / c.bandwidth : 1e3 * c.latency,
          .panel = fmt::format("{}: {}", c.panel, fixed)};
}

/// The time by the closed formulas; gossip sends while it computes.
double formula(const std::string& method, const condition& c) {
  const double bits = 32 * weights;
  if (method == central)
    return computing_s + iterations * 2 * (workers - 1) * (c.latency + bits / (workers * c.bandwidth));
  const double sent = method == gossip ? 2 * bits : 2 * bits / 4;
  return std::max(computing_s, iterations * (c.latency + sent / c.bandwidth));
}

verdict close_to_formulas(const findings& f, const std::vector<condition>& all) {
  double least = 1, most = 1;
  for (const auto& c : all)
    for (const auto* method : {central, gossip, small}) {
      const double quotient = f(seconds_per_epoch().name, method, c.name()).value / formula(method, c);
      least = std::min(least, quotient);
      most = std::max(most, quotient);
    }
  return within({least, "the least quotient"}, 0.9, 1) && within({most, "the greatest"}, 1, 1.1);
}

constexpr const char* differences =
    "The paper measures ResNet-20 (0.27 million parameters) on CIFAR-10 with 8 machines, of which tc limits the links, "
    "and prints no times. Here: a perceptron of 270,310 parameters, one epoch of 49 steps, which compute for 4 s; that "
    "is assumed. Latencies are one way. The formulas are ours: computing + 2 (n - 1) (latency + S / (n B)) for the "
    "all-reduce; latency + 2 S / B for gossip, a quarter of S with 8 bits, and nothing for what computing hides. 8 "
    "bits are those of ECD-PSGD; DCD-PSGD sends as many.";

} // namespace words_of_tang2018_figure3

reproduction tang2018_figure3(bool quick) {
  using namespace words_of_tang2018_figure3;
  const auto time = seconds_per_epoch().name;
  const double much = quick ? 1.5 : 2, same = quick ? 1.3 : 1.2; ///< the greatest factors between equal times
  const auto all = grid(quick);
  /// The greatest quotient of two methods' times in a panel is at most a bound.
  const auto in_panel = [=](const findings& f, char panel, const char* a, const char* b, double bound) {
    double most = 0;
    for (const auto& c : all)
      if (c.panel == panel)
        most = std::max(most, f(time, a, c.name()).value / f(time, b, c.name()).value);
    return within({most, fmt::format("{} over {}, at most in {}", a, b, panel)}, 0, bound);
  };
  const auto starts = [=](const findings& f, const char* method) {
    const auto first = condition{'b', 0.02, 1.4e9}.name();
    return at_most(f(time, method, first), 1 / much, f(time, central, first));
  };
  return {
      .name = "tang2018-figure3",
      .title = "The time of an epoch against bandwidth and latency: all-reduce, and gossip with 32 and 8 bits",
      .reference = "Tang, Gan, Zhang, Zhang, Liu: Communication compression for decentralized training, NeurIPS 2018, "
                   "figure 3 and section 5.3",
      .differences = differences,
      .common = {"--data", "digits:samples=392,test=10", "--model", quick ? "mlp:hidden=34" : "mlp:hidden=340",
                 "--workers", "8", "--batch", "1", "--epochs", "1", "--eval-every", "1", "--sample-time",
                 fmt::format("{:.6g}", computing_s / iterations), "--optimiser", "sgd", "--lr", "0.01"},
      .methods = {{central, {"--algorithm", "all-reduce-sgd"}},
                  {gossip, {"--algorithm", "d-psgd"}},
                  {small, {"--algorithm", "ecd-psgd", "--codec", "min-max:bits=8"}}},
      .settings =
          [&] {
            std::vector<variant> settings(all.size());
            std::ranges::transform(all, settings.begin(),
                                   [&](const auto& c) { return setting(c, quick ? 27'040 / weights : 1); });
            return settings;
          }(),
      .seeds = 1,
      .measures = {seconds_per_epoch()},
      .shapes = {{"a: with 8 bits, gossip is faster than with 32 when the bandwidth is low",
                  [=](const findings& f) {
                    const auto last = condition{'a', 0.00013, 5e6}.name();
                    return at_most(f(time, small, last), 1 / much, f(time, gossip, last));
                  }},
                 {"a: with 32 bits, gossip has no advantage over the all-reduce",
                  [=](const findings& f) { return in_panel(f, 'a', central, gossip, same); }},
                 {"b: at the best bandwidth, gossip is much better than the all-reduce with 32 and with 8 bits",
                  [=](const findings& f) { return starts(f, gossip) && starts(f, small); }},
                 {"b: with 32 bits, gossip gets dramatically worse as the bandwidth declines",
                  [=](const findings& f) {
                    return at_most(f(time, gossip, condition{'b', 0.02, 1.4e9}.name()), 0.2,
                                   f(time, gossip, condition{'b', 0.02, 5e6}.name()));
                  }},
                 {"c: with 32 and with 8 bits, gossip takes about the same time, and less than the all-reduce",
                  [=](const findings& f) {
                    return in_panel(f, 'c', gossip, small, same) && in_panel(f, 'c', small, gossip, same)
                           && in_panel(f, 'c', gossip, central, 1) && in_panel(f, 'c', small, central, 1);
                  }},
                 {"d: only gossip with 8 bits is good",
                  [=](const findings& f) {
                    return in_panel(f, 'd', small, central, 1 / much) && in_panel(f, 'd', small, gossip, 1 / much);
                  }},
                 {"all times are within 10 % of the closed formulas",
                  [=](const findings& f) { return close_to_formulas(f, all); }}},
      .pictures = {{.kind = picture_kind::points,
                    .x = "5 Mb/s over the bandwidth (a, b); latency, ms (c, d)",
                    .y = time}},
  };
}

} // namespace gossamer::apps
