// Wu et al. (2022), table 1: signs compressed anew at every hop train badly with three workers and not with eight.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace {

/// Counts rounds by one worker's steps: rounds take equally long in synchronous runs.
measure rounds_until(double loss) {
  return {.name = fmt::format("rounds until loss {}", loss),
          .of = [time = seconds_until(loss)](const outcome& o) -> std::optional<double> {
            const auto seconds = time.of(o);
            if (!seconds)
              return {};
            return *seconds / o.last().time_s * static_cast<double>(o.steps_per_worker.front());
          }};
}

} // namespace

reproduction wu2022_table1(bool quick) {
  const auto rounds = rounds_until(1), seconds = seconds_until(1), accuracy = test_accuracy();
  const char *cascading = "cascading compression", *none = "no compression";
  return {
      .name = "wu2022-table1",
      .title = "Cascading compression: poor with 3 workers, divergent with 8",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, table 1",
      .differences =
          "The paper: AlexNet on MNIST, rounds until it has converged, on machines that it does not describe. Here: a "
          "perceptron of 23,860 parameters on 2,000 drawn digits, 16 samples a gradient, rounds and virtual seconds "
          "until a training loss of 1, links of 1 Gb/s. The paper does not say how many elements share a norm; with "
          "all of them even three workers diverge, here it is 16. The rates are the paper's, chosen by the accuracy "
          "on the test set as there; no momentum beside that of SSDM.",
      .common = {"--data", "digits:samples=2000,test=1000,distortion=0.6", "--model", "mlp:hidden=30", "--batch", "16",
                 "--optimiser", "sgd", "--network", "uniform:latency=5e-5,bandwidth=1e9", "--steps",
                 quick ? "300" : "800"},
      .methods = {{cascading, {"--algorithm", "cascading-ssdm:norm-bucket=16"}},
                  {none, {"--algorithm", "all-reduce-sgd"}}},
      .settings = {{"M = 3", {"--workers", "3"}}, {"M = 8", {"--workers", "8"}}},
      .rates = quick ? std::vector{0.03} : std::vector{0.005, 0.01, 0.03},
      .quality = accuracy,
      .seeds = quick ? 1u : 3u,
      .measures = {rounds, accuracy, seconds},
      .numbers = {{rounds.name, cascading, "M = 3", "187, until it has converged"},
                  {rounds.name, cascading, "M = 8", "over 1,000"},
                  {rounds.name, none, "M = 3", "129"},
                  {rounds.name, none, "M = 8", "76"},
                  {accuracy.name, cascading, "M = 3", "87.2 +- 2.31"},
                  {accuracy.name, cascading, "M = 8", "diverges"},
                  {accuracy.name, none, "M = 3", "99.1 +- 0.13"},
                  {accuracy.name, none, "M = 8", "99.2 +- 0.07"},
                  {seconds.name, cascading, "M = 3", "11.2 minutes"},
                  {seconds.name, none, "M = 3", "20.7 minutes"},
                  {seconds.name, none, "M = 8", "10.6 minutes"}},
      .shapes = {{"with 3 workers cascading compression learns, but is far less accurate than no compression",
                  [=](const findings& f) {
                    const auto poor = f(accuracy.name, cascading, "M = 3");
                    return within(poor, 50, 100)
                           && at_most_above(poor, quick ? -2 : -5, f(accuracy.name, none, "M = 3"));
                  }},
                 {"it takes more rounds",
                  [=](const findings& f) {
                    return at_most(f(rounds.name, none, "M = 3"), quick ? 1 : 0.85, f(rounds.name, cascading, "M = 3"));
                  }},
                 {"and still less time",
                  [=](const findings& f) {
                    return at_most(f(seconds.name, cascading, "M = 3"), quick ? 1 : 0.8,
                                   f(seconds.name, none, "M = 3"));
                  }},
                 {"with 8 workers it diverges",
                  [=](const findings& f) { return within(f(accuracy.name, cascading, "M = 8"), 0, 20); }},
                 {"without compression more workers do no worse, in fewer rounds",
                  [=](const findings& f) {
                    return at_most_above(f(accuracy.name, none, "M = 3"), quick ? 1 : 0,
                                         f(accuracy.name, none, "M = 8"))
                           && at_most(f(rounds.name, none, "M = 8"), quick ? 1.1 : 0.8, f(rounds.name, none, "M = 3"));
                  }}},
      .pictures = {{.kind = picture_kind::curves, .x = "seconds", .y = "accuracy"}},
  };
}

} // namespace gossamer::apps
