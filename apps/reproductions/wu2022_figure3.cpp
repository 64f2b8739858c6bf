// Wu et al. (2022), figure 3: full rounds of Marsit cost bits and time, and are worth accuracy.
#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

namespace {

constexpr auto weights = "weights";

/// Bits of each element of a message on the ring, on average over the run.
measure bits_an_element() {
  return {.name = "bits an element", .of = [](const outcome& o) -> std::optional<double> {
            const auto hops = 2 * static_cast<double>(o.steps_per_worker.size() - 1);
            const auto rounds = static_cast<double>(o.steps_per_worker.front());
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
    "The paper: CIFAR-10 with 64 GPUs and 128 samples on each; AlexNet by the caption, ResNet-20 by the "
    "accuracies; several local updates a round; no rate, network or size of a one-bit step is printed for it. "
    "Here: a perceptron on 8,000 drawn digits, 8 workers with 64 samples each, one update a round, 400 rounds "
    "as there, momentum of 0.9, rates that fall by 10 after 188 and 313 rounds, a one-bit step that follows the "
    "gradients. The network, 40 Mb/s where 64 samples take 16 ms, is such that a full round communicates for a "
    "bit more than half of its time, as the paper's times say.";

} // namespace

reproduction wu2022_figure3(bool quick) {
  const auto bits = bits_an_element(), accuracy = test_accuracy();
  const measure seconds{.name = "seconds",
                        .of = [](const outcome& o) -> std::optional<double> { return o.last().time_s; }};
  const auto marsit = [](const char* period) { return flags{"--algorithm", std::string{"marsit:period="} + period}; };
  const double between = quick ? 5 : 0.5;
  return {
      .name = "wu2022-figure3",
      .title = "Marsit with a full round every K rounds: bits, time and accuracy",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, figure 3",
      .differences = differences,
      .common = {"--data", "digits:samples=8000,test=1000,distortion=0.9", "--model",
                 quick ? "softmax" : "mlp:hidden=20", "--workers", "8", "--batch", "64", "--optimiser",
                 "momentum:beta=0.9", "--steps", "400", "--schedule", "steps:at=12+20,factor=0.1", "--sample-time",
                 "2.5e-4", "--network",
                 quick ? "uniform:latency=1e-5,bandwidth=2e7" : "uniform:latency=1e-5,bandwidth=4e7"},
      .methods = {{"K = 1", marsit("1")},
                  {"K = 50", marsit("50")},
                  {"K = 100", marsit("100")},
                  {"K = 200", marsit("200")},
                  {"no full rounds", marsit("0")}},
      .rates = quick ? std::vector{0.03} : std::vector{0.01, 0.03, 0.1, 0.3},
      .seeds = quick ? 1u : 3u,
      .measures = {seconds, accuracy, bits},
      .numbers = printed(seconds.name, accuracy.name, bits.name),
      .shapes = {{"the bits are those that are printed",
                  [=](const findings& f) {
                    const auto about = [&](const char* method, double printed) {
                      return within(f(bits.name, method), 0.99 * printed, 1.01 * printed);
                    };
                    return all_of({about("K = 1", 32), about("K = 50", 1.62), about("K = 100", 1.31),
                                   about("K = 200", 1.16), about("no full rounds", 1)});
                  }},
                 {"fewer full rounds take less time",
                  [=](const findings& f) {
                    return at_most(f(seconds.name, "no full rounds"), 1, f(seconds.name, "K = 200"))
                           && at_most(f(seconds.name, "K = 100"), 1, f(seconds.name, "K = 50"))
                           && at_most(f(seconds.name, "K = 50"), 0.65, f(seconds.name, "K = 1"));
                  }},
                 {"without full rounds it is less accurate than with nothing else",
                  [=](const findings& f) {
                    return at_most_above(f(accuracy.name, "no full rounds"), quick ? 5 : -1, f(accuracy.name, "K = 1"));
                  }},
                 {"with some it lies between",
                  [=](const findings& f) {
                    const auto lies = [&](const char* method) {
                      return at_most_above(f(accuracy.name, "no full rounds"), between, f(accuracy.name, method))
                             && at_most_above(f(accuracy.name, method), between, f(accuracy.name, "K = 1"));
                    };
                    return all_of({lies("K = 50"), lies("K = 100"), lies("K = 200")});
                  }}},
      .pictures = {{.kind = picture_kind::curves, .x = "epochs", .y = "accuracy"}},
      .observe =
          [](const actors::experiment& e) {
            return std::map<std::string, double>{{weights, static_cast<double>(e.initial.size())}};
          },
  };
}

} // namespace gossamer::apps
