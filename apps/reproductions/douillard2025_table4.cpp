// Douillard et al. (2025), table 4: the bandwidth with which workers compute for 50 to 99 % of the time.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gossamer::apps {

namespace words_of_douillard2025_table4 {

constexpr std::array levels{50, 80, 90, 95, 99};
using gigabits = std::array<double, levels.size()>;

constexpr auto parallel = "data parallel", diloco = "DiLoCo", streaming = "streaming", overlapping = "overlapping",
               four_bits = "4 bits";

struct model_size {
  const char* name;
  double parameters, seconds_a_step;
  int fragments;                                         ///< of three layers each
  std::vector<std::pair<const char*, gigabits>> printed; ///< by method, at the levels
};

const std::array sizes{
    model_size{"1B",
               1e9,
               0.1,
               8,
               {{parallel, {86.8, 152.6, 184.2, 222.3, 569}},
                {diloco, {1.4, 6.2, 13.3, 23.3, 86.8}},
                {streaming, {1.4, 5.2, 9.1, 16, 28.1}},
                {overlapping, {1.4, 4.3, 6.2, 9.1, 11}},
                {four_bits, {0.4, 0.9, 1.7, 2, 3}}}},
    model_size{"10B",
               1e10,
               0.8,
               16,
               {{parallel, {104.8, 222.3, 222.3, 268.3, 471.5}}, {four_bits, {0.4, 0.9, 1.4, 1.4, 1.7}}}},
    model_size{"100B",
               1e11,
               4.9,
               36,
               {{parallel, {184.2, 323.8, 390.7, 390.7, 471.5}},
                {diloco, {3, 11, 23.3, 49.4, 184.2}},
                {four_bits, {0.5, 0.9, 1.1, 1.1, 1.4}}}},
};

constexpr auto share = "utilisation, %";

/// The bandwidths that are tried, in Gb/s.
std::vector<double> grid(bool quick) {
  std::vector<double> result;
  for (double b = 0.1; b < 3e4; b *= quick ? 2.5 : 1.5)
    result.push_back(b);
  return result;
}

std::string setting(const model_size& s, double bandwidth) { return fmt::format("{}, {:.3g} Gb/s", s.name, bandwidth); }

/// The bandwidth at which a level is reached, between two that were tried. The ratio of computing to waiting grows with
/// the bandwidth, as a power between them.
named_number needed(const findings& f, const char* method, const model_size& s, int level, bool quick) {
  const auto odds = [](double percent) { return std::log(percent / std::max(100 - percent, 1e-6)); };
  const auto tried = grid(quick);
  named_number result{INFINITY, fmt::format("Gb/s for {} % ({}, {})", level, method, s.name)};
  for (std::size_t k = 0; k < tried.size(); ++k) {
    const double here = f(share, method, setting(s, tried[k])).value;
    if (here < level)
      continue;
    const double before = k == 0 ? here : f(share, method, setting(s, tried[k - 1])).value;
    const double part = here == before ? 1 : (odds(level) - odds(before)) / (odds(here) - odds(before));
    result.value = tried[k] * std::pow(k == 0 ? 1 : tried[k] / tried[k - 1], part - 1);
    break;
  }
  return result;
}

shape as_printed(const char* method, const model_size& s, const gigabits& printed, bool quick) {
  return {fmt::format("{}, {}: within 25 % of the printed bandwidths", method, s.name), [=, &s](const findings& f) {
            const double factor = quick ? 2.5 : 1.25;
            const std::size_t count = quick ? 1 : levels.size();
            std::vector<verdict> verdicts;
            for (std::size_t k = 0; k < count; ++k)
              verdicts.push_back(
                  within(needed(f, method, s, levels[k], quick), printed[k] / factor, printed[k] * factor));
            return all_of(verdicts);
          }};
}

constexpr const char* differences =
    "The paper's text was not at hand: its numbers are second hand. It models times; here the algorithms run, on a "
    "quadratic function of 100,000 elements between two workers, whose links are as much slower as the model is "
    "smaller. bfloat16 stands for its 16 bits. In the paper the sum of a layer begins when its part of the backward "
    "pass is done, two thirds of a step; here an exchange begins behind the whole gradient.";

} // namespace words_of_douillard2025_table4

reproduction douillard2025_table4(bool quick) {
  using namespace words_of_douillard2025_table4;
  const double elements = quick ? 1e4 : 1e5; // that stand for the parameters
  reproduction r{
      .name = "douillard2025-table4",
      .title = "The bandwidth with which workers compute for most of the time",
      .reference = "Douillard, Donchev, Rush, Kale, Charles, Garrett, Teston, Lacey, McIlroy, Shen, Rame, Szlam, "
                   "Ranzato, Barham: Streaming DiLoCo with overlapping communication, 2025, table 4",
      .differences = differences,
      .common = {"--data", fmt::format("quadratic:samples=16,dim={}", elements), "--model", "quadratic", "--batch", "1",
                 "--optimiser", "sgd", "--lr", "0.01", "--workers", "2", "--cost", "none", "--eval-every", "1e6",
                 "--steps", quick ? "100" : "300"},
      .methods = {{parallel, {"--algorithm", "quantised-sgd", "--codec", "bfloat16"}},
                  {diloco, {"--algorithm", "diloco:period=100", "--codec", "bfloat16"}},
                  {streaming, {"--codec", "bfloat16"}},
                  {overlapping, {"--codec", "bfloat16"}},
                  {four_bits, {"--codec", "e3m0"}}},
      .seeds = 1,
      .measures = {{.name = share,
                    .of = [](const outcome& o) -> std::optional<double> {
                      return 100 * o.computing_s / o.last().time_s;
                    },
                    .less_is_better = false}},
      .pictures = {{.kind = picture_kind::points, .x = "Gb/s", .y = share, .log_x = true}},
  };
  r.together = [](const variant& method, const variant& where) -> flags {
    if (method.name == parallel || method.name == diloco)
      return {};
    const auto& size = *std::ranges::find(sizes, where.panel, &model_size::name);
    return {"--algorithm", fmt::format("streaming-diloco:period=100,fragments={},overlap={}", size.fragments,
                                       method.name == streaming ? 0 : 1)};
  };
  r.settings.clear();
  for (const auto& s : std::span{sizes}.first(quick ? 1 : sizes.size())) {
    for (const auto bandwidth : grid(quick))
      r.settings.push_back(
          {.name = setting(s, bandwidth),
           .given = {"--sample-time", fmt::format("{}", s.seconds_a_step), "--network",
                     fmt::format("uniform:latency=0,bandwidth={:.6g}", bandwidth * 1e9 * elements / s.parameters)},
           .x = bandwidth,
           .panel = s.name});
    for (const auto& [method, printed] : s.printed)
      r.shapes.push_back(as_printed(method, s, printed, quick));
  }
  r.shapes.push_back(
      {"DiLoCo, overlapping and 4 bits each need less bandwidth than the one before, at 95 %", [=](const findings& f) {
         const auto at_95 = [&](const char* m) { return needed(f, m, sizes.front(), 95, quick); };
         return at_most(at_95(diloco), 1, at_95(parallel)) && at_most(at_95(overlapping), 1, at_95(diloco))
                && at_most(at_95(four_bits), 1, at_95(overlapping));
       }});
  r.shapes.push_back(
      {"all of it needs a hundredth of the bandwidth of data parallel training, at 95 %", [=](const findings& f) {
         return at_most(needed(f, four_bits, sizes.front(), 95, quick), 0.01,
                        needed(f, parallel, sizes.front(), 95, quick));
       }});
  return r;
}

} // namespace gossamer::apps
