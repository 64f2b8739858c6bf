// A run inside a program of one's own: settings as a structure, an observer that looks on, and a result as a value.
#include "gossamer/actors/real_time/local_world.hpp"
#include "gossamer/base/error.hpp"

#include <cstdio>

using namespace gossamer::actors;

namespace {

class printer final : public run_observer {
public:
  void on_evaluation(const evaluation_record& r) override {
    std::printf("epoch %5.2f: loss %.4f, models are %.3f apart\n", r.epoch, r.train_loss, r.consensus_distance);
  }
  void on_event(const event_record& r) override { std::printf("%.3f s: %s\n", r.time_s, r.what.c_str()); }
};

} // namespace

int main() try {
  run_settings settings;
  settings.algorithm = "dcd-psgd";
  settings.codec = "uniform:bits=8";
  settings.model = "softmax";
  settings.data = "digits:samples=1000,test=200";
  settings.epochs = 4;
  settings.eval_every = 1;

  printer looks_on;
  const auto summary = run_locally(prepare(settings), {.observer = &looks_on});
  std::printf("accuracy %.3f after %.3g bits of payload\n", summary.final.test_accuracy.value_or(0),
              static_cast<double>(summary.final.payload_bits));
  return summary.end == run_end::planned ? 0 : 1;
} catch (const gossamer::error& e) { // bad settings, a model that diverges, a full disk: each says what to do
  std::fprintf(stderr, "embedded_run: %s\n", e.what());
  return 2;
}
