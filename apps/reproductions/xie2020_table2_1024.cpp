// Xie et al. (2020), table 2, last line: CSER at a compression ratio of 1,024, over enough steps to send all weights.
#include "gossamer/apps/reproductions/detail/entries.hpp"

namespace gossamer::apps {

namespace words_of_xie2020_table2_1024 {

constexpr const char* differences =
    "The paper: a wide residual network on CIFAR-100, 200 epochs of 390 steps. Here: a perceptron of 7,960 parameters "
    "on 16,000 drawn digits of ten classes, 160 epochs of 125 steps, 2,048 blocks, one of the authors' ways to spend "
    "the ratio (R_C2 = 2,048; R_C1 = 8, H = 256), no weight decay. Eight workers, 16 samples, Nesterov's momentum of "
    "0.9, the lower two of the four rates and their cuts to a fifth as there; with 0.5 and 1 the loss after 1,000 "
    "steps was 1.7 to 2.3.";

constexpr const char* changes =
    "over the 625 steps of xie2020-table2, in which a weight is sent less than once, CSER lost 14 points at this "
    "ratio. The bound, the printed 1.35 points, is the old one; the whole interval has to keep it now. With 3 seeds "
    "the mean was -0.8, and the interval, -5.4 to 3.8, held the bound, so there are 6.";

} // namespace words_of_xie2020_table2_1024

reproduction xie2020_table2_1024(bool quick) {
  using namespace words_of_xie2020_table2_1024;
  const auto accuracy = test_accuracy().name;
  return {
      .name = "xie2020-table2-1024",
      .title = "CSER at a compression ratio of 1,024, over 20,000 steps",
      .reference = "Xie, Zheng, Koyejo, Gupta, Li, Lin: CSER: communication-efficient SGD with error reset, NeurIPS "
                   "2020, table 2, last line",
      .differences = differences,
      .changes = changes,
      .common = {"--data",
                 quick ? "digits:samples=2000,test=1000,distortion=0.9"
                       : "digits:samples=16000,test=4000,distortion=0.9",
                 "--model", "mlp:hidden=10", "--workers", "8", "--batch", "16", "--optimiser", "nesterov:beta=0.9",
                 "--epochs", quick ? "60" : "160", "--schedule",
                 quick ? "steps:at=18+36+48,factor=0.2" : "steps:at=48+96+128,factor=0.2", "--eval-every",
                 quick ? "20" : "8"},
      .methods = {{"SGD", {"--algorithm", "all-reduce-sgd"}},
                  {"CSER",
                   {"--algorithm",
                    quick ? "cser:c1=grbs/ratio=8/blocks=128,c2=grbs/ratio=128/blocks=128,period=16"
                          : "cser:c1=grbs/ratio=8/blocks=2048,c2=grbs/ratio=2048/blocks=2048,period=256"}}},
      .rates = quick ? std::vector{0.05} : std::vector{0.05, 0.1},
      .seeds = quick ? 1u : 6u,
      .measures = {test_accuracy(), training_loss()},
      .numbers = {{accuracy, "SGD", "", "87.01"}, {accuracy, "CSER", "", "85.66"}},
      .shapes = {changed({"CSER is comparable to SGD even at 1,024 (published: 1.35 points below)",
                          [=](const findings& f) {
                            return surely_at_most(difference(f, accuracy, {"SGD"}, {"CSER"}), quick ? 5 : 1.4);
                          }})},
      .pictures = {{.kind = picture_kind::curves, .x = "epochs", .y = "accuracy"},
                   {.kind = picture_kind::curves, .x = "bits", .y = "accuracy", .log_x = true}},
  };
}

} // namespace gossamer::apps
