// Wu et al. (2022), table 2: Marsit with rare full rounds is nearly as accurate as PSGD, other signs are not.
#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

reproduction wu2022_table2(bool quick) {
  const auto accuracy = test_accuracy();
  const auto name = accuracy.name;
  // Compares both models.
  const auto below = [=](const findings& f, const char* less, double margin, const char* more) {
    return at_most_above(f(name, less, "softmax"), margin, f(name, more, "softmax"))
           && at_most_above(f(name, less, "perceptron"), margin, f(name, more, "perceptron"));
  };
  const auto printed = [=](const char* method, const char* text) {
    return published{name, method, "perceptron", text};
  };
  reproduction r{
      .name = "wu2022-table2",
      .title = "Accuracy of six methods: Marsit-100 is close to PSGD, and above the other signs",
      .reference = "Wu, He, Guo, Qu, Wang, Zhuang, Zhang: Sign bit is enough: a learning synchronization framework for "
                   "multi-hop all-reduce with ultimate compression, DAC 2022, table 2",
      .differences =
          "The paper: AlexNet and residual networks on CIFAR-10 and ImageNet and DistilBERT on reviews, 64 GPUs with "
          "128 samples each, several local updates a round, rates of 0.1 and 0.03 that fall by 10. Its numbers below "
          "are of CIFAR-10, with AlexNet and with ResNet-20. Here: softmax and a perceptron of 15,910 parameters on "
          "8,000 drawn digits, 8 workers, 64 samples a gradient, one update a round, 400 rounds, rates of a wider "
          "grid that fall by 10 at two points, since a step of signs is as large as the rate. Momentum of 0.9 on each "
          "worker as there; Marsit's one-bit step, which is not printed, follows the gradients; SSDM's norm is of all "
          "elements.",
      .common = {"--data", "digits:samples=8000,test=1000,distortion=0.9", "--workers", "8", "--batch", "64",
                 "--optimiser", "momentum:beta=0.9", "--steps", quick ? "200" : "400", "--schedule",
                 quick ? "steps:at=6+10,factor=0.1" : "steps:at=12+20,factor=0.1", "--eval-every", "1000"},
      .methods = {{"PSGD", {"--algorithm", "all-reduce-sgd"}},
                  {"signSGD", {"--algorithm", "sign-sgd"}},
                  {"EF-signSGD", {"--algorithm", "ef-sign-sgd:scale=common"}},
                  {"SSDM", {"--algorithm", "ssdm:beta=0"}},
                  {"Marsit-100", {"--algorithm", "marsit:period=100"}},
                  {"Marsit", {"--algorithm", "marsit:period=0"}}},
      .settings = {{"softmax", {"--model", "softmax"}}, {"perceptron", {"--model", "mlp:hidden=20"}}},
      .rates = quick ? std::vector{0.03} : std::vector{0.003, 0.01, 0.03, 0.1, 0.3},
      .seeds = quick ? 1u : 3u,
      .measures = {accuracy, training_loss()},
      .numbers = {printed("PSGD", "82.38, 93.42"), printed("signSGD", "80.74, 88.92"),
                  printed("EF-signSGD", "82.25, 91.85"), printed("SSDM", "81.89, 89.18"),
                  printed("Marsit-100", "82.30, 92.18"), printed("Marsit", "81.58, 90.15")},
      .shapes = {{"Marsit-100 is nearly as accurate as PSGD",
                  [=](const findings& f) { return below(f, "PSGD", quick ? 5 : 1.3, "Marsit-100"); }},
                 {"Marsit-100 is more accurate than Marsit without full rounds",
                  [=](const findings& f) { return below(f, "Marsit", quick ? 5 : 0, "Marsit-100"); }}},
      .pictures = {{.kind = picture_kind::bars, .y = test_accuracy().name, .stacked = {test_accuracy().name}}},
  };
  if (!quick) // the quick form is a test, where these do not come back
    r.shapes.insert(r.shapes.end(),
                    {{"nothing is more accurate than PSGD",
                      [=](const findings& f) {
                        return all_of({below(f, "signSGD", 0, "PSGD"), below(f, "EF-signSGD", 0, "PSGD"),
                                       below(f, "SSDM", 0, "PSGD"), below(f, "Marsit-100", 0, "PSGD"),
                                       below(f, "Marsit", 0, "PSGD")});
                      }},
                     {"signSGD loses accuracy", [=](const findings& f) { return below(f, "signSGD", -1.5, "PSGD"); }},
                     {"Marsit-100 is more accurate than other signs", [=](const findings& f) {
                        return all_of({below(f, "signSGD", 0, "Marsit-100"), below(f, "EF-signSGD", 0, "Marsit-100"),
                                       below(f, "SSDM", 0, "Marsit-100")});
                      }}});
  return r;
}

} // namespace gossamer::apps
