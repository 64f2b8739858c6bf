// A test under injected faults, as a program whose exit status says what became of it: D-PSGD loses two of eight
// workers, a third is cut off for a while, and the model must come out nearly as good as without. Virtual time: a
// second suffices, and the same bits come every time.
#include "gossamer/actors/faults/plan.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"

#include <cstdio>

using namespace gossamer::actors;

int main() try {
  run_settings settings;
  settings.algorithm = "d-psgd";
  settings.model = "softmax";
  settings.data = "digits:samples=1000,test=200";
  settings.workers = 8;
  settings.epochs = 30;
  const auto e = prepare(settings);

  const auto faults = parse_plan(R"(
    [[fault]]
    kind = "kill"
    at-step = 5
    workers = [2, 5]

    [[fault]]
    kind = "partition"
    at = 0.02
    for = 0.05
    workers = [1]
  )",
                                 "survives_losses.cpp");
  const auto undisturbed = simulate(e, {});
  const auto disturbed = simulate(e, {}, {.faults = faults}); // throws where workers hang, or a law is broken

  const double loss = undisturbed.summary.final.test_loss, with_faults = disturbed.summary.final.test_loss;
  std::printf("test loss %.4f, with faults %.4f; %llu workers lost; trace hash 0x%016llx\n", loss, with_faults,
              static_cast<unsigned long long>(disturbed.summary.lost), static_cast<unsigned long long>(disturbed.hash));
  return disturbed.summary.lost == 2 && with_faults < 1.1 * loss ? 0 : 1;
} catch (const gossamer::error& e) {
  std::fprintf(stderr, "survives_losses: %s\n", e.what());
  return 2;
}
