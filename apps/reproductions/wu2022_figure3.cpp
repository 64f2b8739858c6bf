// Wu et al. (2022), figure 3: full rounds of Marsit cost bits and time, and are worth accuracy.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::apps {

namespace words_of_wu2022_figure3 {

constexpr auto weights = "weights";
constexpr int local_steps = 5; ///< of a round

/// Bits of each element of a message on the ring, on average over the run.
measure bits_an_element() {
  return {.name = "bits an element", .of = [](const outcome& o) -> std::optional<double> {
            const auto hops = 2 * static_cast<double>(o.steps_per_worker.size() - 1);
            const auto rounds = static_cast<double>(o.steps_per_worker.front()) / local_steps;
            return static_cast<double>(o.last().payload_bits) / (hops * rounds * o.observed.at(weights));
          }};
}

std::vector<published> printed(const std::string& seconds, const std::string& accuracy, const std::string& bits) {
  return {{seconds, "K = 1", "", "40.18 minutes"},
          {seconds, "K = 50", "", "22.05 minutes"},
          {seconds, "K = 100", "", "21.34 minutes"},
          {seconds, "K = 200", "", "22.38 minutes"},
          {seconds, "no full rounds", "", "18.78 minutes"},
          {accuracy, "K = 1", "", "93.42"},
          {accuracy, "K = 50", "", "92.28"},
          {accuracy, "K = 100", "", "91.73"},
          {accuracy, "K = 200", "", "92.00"},
          {accuracy, "no full rounds", "", "90.75"},
          {bits, "K = 1", "", "32"},
          {bits, "K = 50", "", "1.62"},
          {bits, "K = 100", "", "1.31"},
          {bits, "K = 200", "", "1.16"},
          {bits, "no full rounds", "", "1"}};
}

constexpr const char* differences =
    "The paper: CIFAR-10 with 64 GPUs and 128 samples on each; AlexNet by the caption, ResNet-20 by the accuracies; "
    "several local updates a round; no network or size of a one-bit step is printed for it. Here: a perceptron on "
    "8,000 drawn digits, 8 workers, 5 local updates a round of 16 samples each, 400 rounds as there, momentum of 0.9, "
    "rates that fall by 10 after 188 and 313 rounds, a one-bit step that follows the gradients. The network, 40 Mb/s "
    "where a round computes for 20 ms, is such that a full round communicates for a bit more than half of its time, as "
    "the paper's times say.";

constexpr const char* changes =
    "with one update a round 9 to 16 points were lost, and 'with some full rounds it lies between' held with that. "
    "Local updates are the paper's; in single runs at 0.03 they left 96.3 for K = 100 beside 96.4, and 95.2 without "
    "full rounds. What may be lost now follows from the printed 2.67 points without full rounds, and differences are "
    "taken seed by seed. With 4 seeds K = 200 lost 2.25 points, with an interval of 0.8 to 3.7, which held the bound, "
    "so there are 8.";

} // namespace words_of_wu2022_figure3

reproduction wu2022_figure3(bool quick) {
  using namespace words_of_wu2022_figure3;
  const auto bits = bits_an_element(), accuracy = test_accuracy();
  const measure seconds{.name = "seconds",
                        .of = [](const outcome& o) -> std::optional<double> { return o.last().time_s; }};
  const auto marsit = [](const char* period) {
    return flags{"--algorithm", fmt::format("marsit:period={},local-steps={}", period, local_steps)};
  };
  constexpr double printed_loss = 2.67;
  const auto lost = [=](const findings& f, const char* method) {
    return difference(f, accuracy.name, {"K = 1"}, {method});
  };
  return {
      .name = "wu2022-figure3",
      .title = "Marsit with a full round every K rounds: bits, time and accuracy",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, figure 3",
      .differences = differences,
      .changes = changes,
      .common = {"--data", "digits:samples=8000,test=4000,distortion=0.9", "--model",
                 quick ? "softmax" : "mlp:hidden=20", "--workers", "8", "--batch", "16", "--optimiser",
                 "momentum:beta=0.9", "--steps", "2000", "--schedule", "steps:at=15+25,factor=0.1", "--sample-time",
                 "2.5e-4", "--network",
                 quick ? "uniform:latency=1e-5,bandwidth=2e7" : "uniform:latency=1e-5,bandwidth=4e7"},
      .methods = {{"K = 1", marsit("1")},
                  {"K = 50", marsit("50")},
                  {"K = 100", marsit("100")},
                  {"K = 200", marsit("200")},
                  {"no full rounds", marsit("0")}},
      .rates = quick ? std::vector{0.03} : std::vector{0.01, 0.03, 0.1},
      .seeds = quick ? 1u : 8u,
      .measures = {seconds, accuracy, bits},
      .numbers = printed(seconds.name, accuracy.name, bits.name),
      .shapes =
          {{"the bits are those that are printed",
            [=](const findings& f) {
              const auto about = [&](const char* method, double printed) {
                return surely_within(ranged(f, bits.name, {method}), 0.99 * printed, 1.01 * printed);
              };
              return all_of({about("K = 1", 32), about("K = 50", 1.62), about("K = 100", 1.31), about("K = 200", 1.16),
                             about("no full rounds", 1)});
            }},
           {"fewer full rounds take less time",
            [=](const findings& f) {
              const auto less = [&](const char* method, double factor, const char* than) {
                return surely_at_most(quotient(f, seconds.name, {method}, {than}), factor);
              };
              return less("no full rounds", 1, "K = 200") && less("K = 100", 1, "K = 50")
                     && less("K = 50", 0.65, "K = 1");
            }},
           changed(
               {"without full rounds it is less accurate than with nothing else, but by few points (published: 2.67)",
                [=](const findings& f) {
                  return surely_at_least(lost(f, "no full rounds"), quick ? -5 : 0)
                         && surely_at_most(lost(f, "no full rounds"), 2 * printed_loss);
                }}),
           changed({"with some it loses less (published: 1.14 to 1.69)",
                    [=](const findings& f) {
                      return each(std::array{"K = 50", "K = 100", "K = 200"},
                                  [&](auto* method) { return surely_at_most(lost(f, method), printed_loss); });
                    }})},
      .pictures = {{.kind = picture_kind::curves, .x = "epochs", .y = "accuracy"}},
      .observe =
          [](const actors::experiment& e) {
            return std::map<std::string, double>{{weights, static_cast<double>(e.initial.size())}};
          },
  };
}

} // namespace gossamer::apps
