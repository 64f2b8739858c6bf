// Wu et al. (2022), figure 5: the parts of a round of six methods, on a ring and on a torus.
#include "gossamer/apps/reproductions/detail/entries.hpp"

#include <array>

namespace gossamer::apps {

namespace words_of_wu2022_figure5 {

constexpr std::array marsits{"Marsit-100", "Marsit"};
constexpr std::array others{"PSGD", "signSGD", "EF-signSGD", "SSDM"};
constexpr std::array all{"PSGD", "signSGD", "EF-signSGD", "SSDM", "Marsit-100", "Marsit"};

flags algorithm_of(const variant& method, const variant& setting) {
  static const std::map<std::string, std::string> algorithms{
      {"PSGD", "all-reduce-sgd:"},
      {"signSGD", "sign-sgd:coding=elias,"},
      {"EF-signSGD", "ef-sign-sgd:scale=common,coding=elias,"},
      {"SSDM", "ssdm:beta=0,coding=elias,"},
      {"Marsit-100", "marsit:period=100,global-rate=0.002,"},
      {"Marsit", "marsit:period=0,global-rate=0.002,"},
  };
  return {"--algorithm", algorithms.at(method.name) + "collective=" + setting.name};
}

/// The least value of the methods that Marsit is compared with.
named_number least(const findings& f, const measure& m, const char* way) {
  auto found = f(m.name, others.front(), way);
  for (const char* method : others)
    if (const auto now = f(m.name, method, way); now.value < found.value)
      found = now;
  return found;
}

} // namespace words_of_wu2022_figure5

reproduction wu2022_figure5(bool quick) {
  using namespace words_of_wu2022_figure5;
  const auto time = milliseconds_per_round();
  const auto computing = milliseconds_per_round("computing", &outcome::computing_s),
             compressing = milliseconds_per_round("compressing", &outcome::compressing_s),
             communicating = milliseconds_per_round("communicating", &outcome::communicating_s);
  return {
      .name = "wu2022-figure5",
      .title = "Computing, compressing and communicating in a round, on a ring and on a torus",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, figure 5",
      .differences =
          "The paper: AlexNet on CIFAR-10, 64 GPUs, a network that it does not describe; the bars have no numbers. "
          "Here: 16 workers, a perceptron of 50,890 parameters, 4 samples of 0.1 ms a gradient, links of 0.5 Gb/s and "
          "50 us, 100 rounds; codecs on the host, costs as counted. Sums of signs are in Elias' code as there; "
          "EF-signSGD shares one scale, and Marsit has a fixed one-bit step.",
      .common =
          {"--data",        "digits:samples=320,test=100",
           "--model",       quick ? "mlp:hidden=8" : "mlp:hidden=64",
           "--workers",     "16",
           "--batch",       "4",
           "--optimiser",   "momentum:beta=0.9",
           "--lr",          "0.001",
           "--sample-time", "1e-4",
           "--network",     quick ? "uniform:latency=5e-5,bandwidth=6.25e7" : "uniform:latency=5e-5,bandwidth=5e8",
           "--steps",       "100",
           "--eval-every",  "1000"},
      .methods = {{"PSGD"}, {"signSGD"}, {"EF-signSGD"}, {"SSDM"}, {"Marsit-100"}, {"Marsit"}},
      .settings = {{.name = "ring"}, {.name = "torus"}},
      .together = algorithm_of,
      .seeds = 1,
      .measures = {time, computing, compressing, communicating},
      .shapes = {{"Marsit communicates least",
                  [=](const findings& f) {
                    std::vector<verdict> verdicts;
                    for (const char* way : {"ring", "torus"})
                      for (const char* marsit : marsits)
                        verdicts.push_back(
                            at_most(f(communicating.name, marsit, way), 1, least(f, communicating, way)));
                    return all_of(verdicts);
                  }},
                 {"Marsit compresses little",
                  [=](const findings& f) {
                    return each(marsits, [&](const char* marsit) {
                      return at_most(f(compressing.name, marsit, "ring"), 0.1, f(time.name, marsit, "ring"));
                    });
                  }},
                 {"every method communicates for less time on a torus than on a ring",
                  [=](const findings& f) {
                    return each(all, [&](const char* method) {
                      return at_most(f(communicating.name, method, "torus"), 1, f(communicating.name, method, "ring"));
                    });
                  }},
                 {"on a ring, communicating takes longer than computing",
                  [=](const findings& f) {
                    return each(all, [&](const char* method) {
                      return at_most(f(computing.name, method, "ring"), 1, f(communicating.name, method, "ring"));
                    });
                  }},
                 {"on a ring, rounds of Marsit are the shortest",
                  [=](const findings& f) {
                    return each(marsits, [&](const char* marsit) {
                      return at_most(f(time.name, marsit, "ring"), 1, least(f, time, "ring"));
                    });
                  }}},
      .pictures = {{.kind = picture_kind::bars,
                    .y = "ms a round",
                    .stacked = {computing.name, compressing.name, communicating.name}}},
  };
}

} // namespace gossamer::apps
