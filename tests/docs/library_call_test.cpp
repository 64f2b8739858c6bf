// The example of docs/adding-an-algorithm.md: a run without the command line, with a program's own table of algorithms.
#include "gossamer/actors/real_time/local_world.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gossamer::actors {
namespace {

TEST(a_program_without_a_command_line, trains_with_a_table_of_its_own) {
  const auto& entry = algorithms().find("d-psgd");
  // snippet run begin
  const std::array entries{entry};
  const registry<algorithm_entry> own_algorithms{"algorithm", entries};

  run_settings settings;
  settings.algorithm = "d-psgd";
  settings.topology = "exponential";
  settings.codec = "uniform:bits=8";
  settings.model = "softmax";
  settings.data = "digits:samples=1000,test=200";
  settings.epochs = 6;
  const auto e = prepare(settings, {.algorithms = own_algorithms});
  const auto summary = run_locally(e);
  // snippet run end
  EXPECT_GT(summary.final.test_accuracy.value(), 0.5);
  EXPECT_GT(summary.final.payload_bits, 0u);
  EXPECT_GT(summary.final.consensus_distance, 0);
}

} // namespace
} // namespace gossamer::actors
