// Yu et al. (2019), figure 3b: where the time goes until the loss of a logistic regression is low.
#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

namespace {

constexpr double level = 0.5;
constexpr auto exact = "AsyFPG", gradients = "QSVRG", both = "AsyLPG", sparse = "Sparse-AsyLPG",
               accelerated_exact = "Acc-AsyFPG", accelerated = "Acc-AsyLPG";
constexpr auto computing = "computing, s", compressing = "encoding and decoding, s", communicating = "transmission, s";

/// A worker's time for one activity until the loss is low, if it is spread evenly over the run.
measure part(const char* name, double outcome::*seconds) {
  return {.name = name, .of = [=](const outcome& o) -> std::optional<double> {
            const auto until = seconds_until(level).of(o);
            if (!until)
              return {};
            return o.*seconds * *until / o.last().time_s;
          }};
}

measure updates() {
  auto m = seconds_until(level);
  m.name = "updates until loss 0.5";
  m.of = [in_time = m.of](outcome o) {
    for (auto& record : o.evaluations)
      record.time_s = static_cast<double>(record.step);
    return in_time(o);
  };
  return m;
}

} // namespace

reproduction yu2019_figure3(bool quick) {
  const double similar = quick ? 3 : 1.25, much = quick ? 1.2 : 2, redundant = quick ? 1 : 1.5;
  const auto less = [=](const findings& f, const char* method, double factor, const char* than) {
    return at_most(f(communicating, method), 1 / factor, f(communicating, than));
  };
  return {
      .name = "yu2019-figure3",
      .title = "Where the time goes until a training loss of 0.5 on logistic regression",
      .reference = "Yu, Wu, Huang: Double quantization for communication-efficient distributed optimization, NeurIPS "
                   "2019, figure 3b",
      .differences =
          "The paper's data are real-sim; here they are drawn with its sizes (72,000 rows of 51 numbers, 20,958 "
          "features), easier, and the loss is reached within the first epoch. Of the paper's rates the greatest four "
          "are tried. The paper names no network: 1 Gb/s and 50 us are assumed, and 0.4 us for the gradient of a "
          "sample, which a server's core takes. Times are those of a worker: encoding and decoding in one, and those "
          "of the master within transmission, which is also waiting for it. They are shares of a run that ends later. "
          "The paper says 'similar' and 'significantly': here, within a factor of 1.25, and half.",
      .common = {"--data",
                 quick ? "logistic:samples=20000,test=500,features=5000,density=0.01"
                       : "logistic:samples=72000,test=1000,features=20958,density=0.00243",
                 "--model", "logistic:l1=1e-5,l2=1e-4", "--workers", "6", "--batch", "200", "--optimiser", "sgd",
                 "--network", "uniform:latency=5e-5,bandwidth=1e9", "--sample-time", "4e-7", "--steps",
                 quick ? "20" : "60", "--eval-every", quick ? "0.06" : "0.017"},
      .methods = {{exact, {"--algorithm", "asy-fpg"}},
                  {accelerated_exact, {"--algorithm", "acc-asy-fpg:output=iterate"}},
                  {gradients, {"--algorithm", "qsvrg:gradient-bits=8"}},
                  {both, {"--algorithm", "asy-lpg:model-bits=8,gradient-bits=8"}},
                  {sparse, {"--algorithm", "sparse-asy-lpg:model-bits=8,gradient-bits=8"}},
                  {accelerated, {"--algorithm", "acc-asy-lpg:model-bits=8,gradient-bits=8,output=iterate"}}},
      .rates = quick ? std::vector{0.05} : std::vector{0.1, 0.05, 0.01, 0.005},
      .quality = seconds_until(level),
      .seeds = quick ? 1u : 3u,
      .measures = {updates(), seconds_until(level), part(computing, &outcome::computing_s),
                   part(compressing, &outcome::compressing_s), part(communicating, &outcome::communicating_s)},
      .shapes = {{"AsyLPG converges about as fast as AsyFPG, and Acc-AsyLPG as Acc-AsyFPG",
                  [=](const findings& f) {
                    const auto name = updates().name;
                    return at_most(f(name, both), similar, f(name, exact))
                           && at_most(f(name, accelerated), similar, f(name, accelerated_exact));
                  }},
                 {"Sparse-AsyLPG converges fast as well",
                  [=](const findings& f) {
                    return at_most(f(updates().name, sparse), similar, f(updates().name, exact));
                  }},
                 {"double quantisation saves much of the transmission",
                  [=](const findings& f) {
                    return less(f, both, much, exact) && less(f, sparse, much, exact)
                           && less(f, accelerated, much, accelerated_exact);
                  }},
                 {"32 bits of the model are redundant: AsyLPG transmits for a shorter time than QSVRG",
                  [=](const findings& f) { return less(f, both, redundant, gradients); }},
                 {"encoding and decoding cost less than they save",
                  [=](const findings& f) {
                    const auto name = seconds_until(level).name;
                    return at_most(f(name, both), 1, f(name, exact)) && at_most(f(name, sparse), 1, f(name, exact))
                           && at_most(f(name, accelerated), 1, f(name, accelerated_exact));
                  }}},
      .pictures = {{.kind = picture_kind::bars,
                    .y = "seconds until loss 0.5",
                    .stacked = {computing, compressing, communicating}},
                   {.kind = picture_kind::curves, .x = "epochs"}},
  };
}

} // namespace gossamer::apps
