// Douillard et al. (2023): DiLoCo's perplexity over the steps between two exchanges, and with moves that are lost.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace gossamer::apps {

namespace words_of_douillard2023_h {

constexpr auto diloco = "DiLoCo", local = "local SGD";
constexpr auto perplexity = "test perplexity";

measure test_perplexity() {
  return {.name = perplexity, .of = [](const outcome& o) -> std::optional<double> {
            const double value = std::exp(o.last().test_loss);
            return std::isfinite(value) ? std::optional{value} : std::nullopt;
          }};
}

std::string name_of(int period, int lost = 0) {
  return fmt::format("H = {}{}", period, lost > 0 ? fmt::format(", {} % lost", lost) : "");
}

variant setting(int period, int lost = 0) {
  return {.name = name_of(period, lost), .x = lost > 0 ? std::nullopt : std::optional<double>{period}};
}

/// DiLoCo with the mean for an outer step is local SGD, and can lose moves.
flags algorithm_of(const variant& method, int period, int lost) {
  const auto* outer = method.name == local ? "outer=average,outer-lr=1," : "";
  return {"--algorithm", fmt::format("diloco:{}period={},drop={}", outer, period, 0.01 * lost)};
}

verdict costs_at_most(const findings& f, const place& a, const place& b, double factor) {
  return surely_at_most(quotient(f, perplexity, a, b), factor);
}

constexpr double more = 1.005; // equal methods come to 1

/// How many times as much the perplexity of local SGD rises as that of DiLoCo, from one H to another, seed by seed.
verdict rises_more(const findings& f, int from, int to) {
  const auto of = [&](const char* method, int h) { return f.values(perplexity, method, name_of(h)); };
  const auto ours = of(diloco, to), ours_before = of(diloco, from), other = of(local, to),
             other_before = of(local, from);
  std::vector<double> ratios;
  for (std::size_t seed = 0; seed < ours.size(); ++seed)
    ratios.push_back(other[seed] / other_before[seed] / (ours[seed] / ours_before[seed]));
  return surely_at_least(ranged(ratios, fmt::format("rise of local SGD over that of DiLoCo, H = {} to {}", from, to)),
                         more);
}

constexpr const char* differences =
    "The paper's text was not at hand: its numbers are second hand. It trains a transformer of 150 M weights on C4, "
    "from a checkpoint, for 64,000 steps of 8 workers, with H from 50 to 2000, and loses moves at H = 500. Here steps "
    "and H are a tenth of that, so that there are as many exchanges: a perceptron of 25,450 weights from the start, "
    "6,400 steps of 8 workers with 8 drawn digits each, dealt out unevenly by label (Dirichlet, 1). H = 1 and 500 lie "
    "outside the paper's range, and 500 leaves 12 exchanges. The perplexity is that of ten classes. As there, AdamW on "
    "each worker, a cosine of the rate, and Nesterov's outer step of 0.7 and 0.9 for all H. Local SGD has the same "
    "AdamW; with H = 1 it is data parallel training, but for the state of AdamW. Whether curves have spikes where "
    "moves are lost is not looked at.";

/// The steps between two exchanges that claims are about.
struct periods {
  int short_one, usual, long_one, longest; ///< as 100, 500, 1000 and 5000 of the paper
};

std::vector<shape> shapes_of(const periods& h, const std::vector<int>& losses, bool quick) {
  const double cost_of_h = quick ? 1.2 : 1.029, cost_of_losses = quick ? 1.2 : 1.021;
  return {
      {fmt::format("flat: H = {} costs at most 2.9 % over {} (paper: 1000 over 50)", h.long_one, h.short_one),
       [=](const findings& f) {
         return costs_at_most(f, {diloco, name_of(h.long_one)}, {diloco, name_of(h.short_one)}, cost_of_h);
       }},
      {fmt::format("H = {} costs at most 2.9 % over data parallel training", h.usual),
       [=](const findings& f) {
         return costs_at_most(f, {diloco, name_of(h.usual)}, {local, name_of(1)}, cost_of_h);
       }},
      {fmt::format("H = {} costs more than {}", h.longest, h.usual),
       [=](const findings& f) {
         return surely_at_least(quotient(f, perplexity, {diloco, name_of(h.longest)}, {diloco, name_of(h.usual)}), 1);
       }},
      {fmt::format("local SGD with the same H, {} or {}, is worse", h.usual, h.long_one),
       [=](const findings& f) {
         return each(std::array{h.usual, h.long_one}, [&](int same) {
           return surely_at_least(quotient(f, perplexity, {local, name_of(same)}, {diloco, name_of(same)}), more);
         });
       }},
      {fmt::format("and rises more from {} to {}", h.short_one, h.long_one),
       [=](const findings& f) { return rises_more(f, h.short_one, h.long_one); }},
      {fmt::format("lost moves, up to half of all at H = {}, cost at most 2.1 %", h.usual),
       [=](const findings& f) {
         return each(losses, [&](int lost) {
           return costs_at_most(f, {diloco, name_of(h.usual, lost)}, {diloco, name_of(h.usual)}, cost_of_losses);
         });
       }},
  };
}

} // namespace words_of_douillard2023_h

reproduction douillard2023_h(bool quick) {
  using namespace words_of_douillard2023_h;
  const auto h = quick ? periods{5, 10, 20, 100} : periods{10, 50, 100, 500};
  const auto losses = quick ? std::vector{50} : std::vector{30, 50};
  reproduction r{
      .name = "douillard2023-h",
      .title = "DiLoCo with more steps between two exchanges, and with lost moves",
      .reference = "Douillard, Feng, Rusu, Chhaparia, Donchev, Kuncoro, Ranzato, Szlam, Shen: DiLoCo: distributed "
                   "low-communication training of language models, 2023, figures of H and of lost communication",
      .differences = differences,
      .common = {"--data",       quick ? "digits:samples=15000,test=2000" : "digits:samples=30000,test=4000",
                 "--partition",  "dirichlet:alpha=1",
                 "--model",      "mlp:hidden=32",
                 "--workers",    "8",
                 "--batch",      "8",
                 "--optimiser",  "adamw",
                 "--schedule",   "cosine:warmup=0.5",
                 "--steps",      quick ? "1280" : "6400",
                 "--network",    "ideal",
                 "--cost",       "none",
                 "--eval-every", "1e6"},
      .methods = {{diloco}, {local}},
      .rates = quick ? std::vector{0.004, 0.016} : std::vector{0.001, 0.004, 0.016, 0.064},
      .quality = test_perplexity(),
      .seeds = quick ? 1u : 5u,
      .measures = {test_perplexity(), training_loss(), test_accuracy()},
      .shapes = shapes_of(h, losses, quick),
      .pictures = {{.kind = picture_kind::points, .x = "H", .y = perplexity, .log_x = true}},
  };
  std::map<std::string, std::pair<int, int>> numbers; // of settings
  r.settings.clear();
  for (const int period : {1, h.short_one, h.usual, h.long_one, h.longest})
    numbers[r.settings.emplace_back(setting(period)).name] = {period, 0};
  for (const int lost : losses)
    numbers[r.settings.emplace_back(setting(h.usual, lost)).name] = {h.usual, lost};
  r.together = [numbers](const variant& method, const variant& where) {
    const auto [period, lost] = numbers.at(where.name);
    return algorithm_of(method, period, lost);
  };
  return r;
}

} // namespace gossamer::apps
