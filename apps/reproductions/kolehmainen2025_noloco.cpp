// Kolehmainen et al. (2025): what waiting costs where step times scatter, and what an exchange costs, with all-reduce
// and with pairs.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gossamer::apps {

namespace words_of_kolehmainen2025_noloco {

constexpr auto diloco = "DiLoCo", noloco = "NoLoCo";

variant waiting(std::size_t workers, std::uint64_t steps) {
  return {.name = fmt::format("{}", workers),
          .given = {"--workers", fmt::format("{}", workers), "--network", "ideal", "--jitter",
                    fmt::format("lognormal:sigma={:.4f}", std::sqrt(0.5)), "--steps", fmt::format("{}", steps)},
          .x = static_cast<double>(workers)};
}

variant exchanging(std::size_t workers, std::uint64_t steps) {
  return {.name = fmt::format("{}, 10 ms", workers),
          .given = {"--workers", fmt::format("{}", workers), "--network", "uniform:latency=0.01,bandwidth=inf",
                    "--jitter", "none", "--steps", fmt::format("{}", steps)}};
}

measure waiting_share() {
  return {.name = "waiting, %",
          .of = [](const outcome& o) -> std::optional<double> { return 100 * (1 - o.computing_s / o.last().time_s); }};
}

measure exchange_ms(std::uint64_t period) {
  return {.name = "ms an exchange", .of = [period](const outcome& o) -> std::optional<double> {
            const auto rounds = static_cast<double>(o.steps_per_worker.front()) / static_cast<double>(period);
            return 1e3 * (o.last().time_s - o.computing_s) / rounds;
          }};
}

constexpr const char* differences =
    "The paper's text was not at hand: its numbers are second hand. It models times, with step times drawn from a "
    "log-normal distribution; here the algorithms run, on a quadratic function of 10 dimensions, with step times whose "
    "logarithm has a variance of 0.5. Gradients are of one sample and take 1 s on average. It counts one tree for an "
    "all-reduce, log2 n hops each way; DiLoCo's ring here has 2(n-1) hops, so that its exchange is compared with the "
    "tree's hops and not with its own.";

} // namespace words_of_kolehmainen2025_noloco

reproduction kolehmainen2025_noloco(bool quick) {
  using namespace words_of_kolehmainen2025_noloco;
  const std::uint64_t period = quick ? 20 : 100;
  const auto sizes = quick ? std::array<std::size_t, 3>{8, 16, 64} : std::array<std::size_t, 3>{64, 256, 1024};
  const auto most = fmt::format("{}", sizes.back()), least = fmt::format("{}", sizes.front());
  const auto share = waiting_share().name, exchange = exchange_ms(period).name;
  const auto hops = std::log2(static_cast<double>(sizes.back()));
  reproduction r{
      .name = "kolehmainen2025-noloco",
      .title = "DiLoCo and NoLoCo: waiting for others, and the time of an exchange",
      .reference = "Kolehmainen, Blagoev, Donaghy, Ersoy, Nies: NoLoCo: no-all-reduce low communication training "
                   "method for large models, 2025",
      .differences = differences,
      .common = {"--data", "quadratic:samples=4096,dim=10", "--model", "quadratic", "--batch", "1", "--optimiser",
                 "sgd", "--lr", "0.01", "--sample-time", "1", "--cost", "none"},
      .methods = {{diloco, {"--algorithm", fmt::format("diloco:period={}", period)}},
                  {noloco, {"--algorithm", fmt::format("noloco:period={}", period)}}},
      .seeds = quick ? 1u : 3u,
      .measures = {waiting_share(), exchange_ms(period), training_loss()},
      .numbers = {{share, diloco, most, "about 20"}},
      .shapes = {{"waiting for the slowest takes about 20 % of DiLoCo's time with the most workers",
                  [=](const findings& f) {
                    return surely_within(ranged(f, share, {diloco, most}), quick ? 10 : 16, quick ? 40 : 24);
                  }},
                 {"it grows with the workers",
                  [=](const findings& f) {
                    return surely_at_most(quotient(f, share, {diloco, least}, {diloco, most}), 0.9);
                  }},
                 {"NoLoCo waits for at most half of that",
                  [=](const findings& f) {
                    return surely_at_most(quotient(f, share, {noloco, most}, {diloco, most}), quick ? 0.75 : 0.5);
                  }},
                 {"an exchange of NoLoCo takes one hop, however many workers there are",
                  [=](const findings& f) {
                    const auto one_hop = [&](const std::string& where) {
                      return surely_within(ranged(f, exchange, {noloco, where}), 9.9, 10.1);
                    };
                    return one_hop(least + ", 10 ms") && one_hop(most + ", 10 ms");
                  }},
                 {"an all-reduce takes at least log2 n times as long",
                  [=](const findings& f) {
                    const auto where = most + ", 10 ms";
                    return surely_at_most(quotient(f, exchange, {noloco, where}, {diloco, where}), 1 / hops);
                  }}},
      .pictures = {{.kind = picture_kind::points, .x = "workers", .y = share, .log_x = true}},
  };
  r.settings.clear();
  for (const auto n : sizes)
    r.settings.push_back(waiting(n, 10 * period));
  for (const auto n : sizes)
    r.settings.push_back(exchanging(n, 2 * period));
  return r;
}

} // namespace gossamer::apps
