// Bytes of TensorBoard's event files. The golden ones are what the Python package `tensorboard` writes.
#include "gossamer/actors/telemetry/crc32c.hpp"
#include "gossamer/actors/telemetry/tensorboard.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "support/hex.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double wall_s = 1.5;
constexpr std::uint64_t step = 300;

std::string golden(const std::string& hex) {
  const auto bytes = test::from_hex(hex);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(crc32c, has_the_values_of_rfc_3720) {
  std::string rising(32, '\0');
  std::iota(rising.begin(), rising.end(), '\0');
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
  EXPECT_EQ(crc32c(std::string{rising.rbegin(), rising.rend()}), 0x113FDB5Cu);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(tensorboard, records_have_the_bytes_of_its_own_writer) {
  EXPECT_EQ(tensorboard_beginning(wall_s),
            golden("1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c"));
  EXPECT_EQ(tensorboard_start(wall_s, step),
            golden("100000000000000095fbfe1809000000000000f83f10ac023a020801713b788a"));
  const std::vector<tensorboard_scalar> one{{"loss/train", 0.25}};
  EXPECT_EQ(
      tensorboard_scalars(wall_s, step, one),
      golden("2100000000000000017becf609000000000000f83f10ac022a130a110a0a6c6f73732f747261696e150000803e6c5611a4"));
  EXPECT_EQ(
      tensorboard_text(wall_s, step, "events/loss", "worker 3 is lost"),
      golden("3f000000000000005165766109000000000000f83f10ac022a310a2f0a0b6576656e74732f6c6f73734216080712004210776f"
             "726b65722033206973206c6f73744a080a060a0474657874375dcc34"));
}

/// A run that writes into a string for each record.
struct written_run {
  std::vector<std::string> records;
  tensorboard_observer run{{.wall_s = [] { return wall_s; },
                            .write = [this](std::string_view record) { records.emplace_back(record); },
                            .steps_per_epoch = 100,
                            .first_step = step},
                           "algorithm = \"d-psgd\"\nworkers = 4\n"};
};

TEST(a_run_for_tensorboard, begins_with_its_version_its_first_step_and_its_settings) {
  const written_run one;
  EXPECT_THAT(one.records, ElementsAre(tensorboard_beginning(wall_s), tensorboard_start(wall_s, step),
                                       tensorboard_text(wall_s, step, "settings",
                                                        "    algorithm = \"d-psgd\"\n    workers = 4\n    ")));
}

TEST(a_run_for_tensorboard, has_points_at_gradients) {
  written_run one;
  one.run.on_evaluation({.step = 350, .epoch = 3.5, .train_loss = 0.5, .payload_bits = 96});
  const std::vector<tensorboard_scalar> points{
      {"loss/train", 0.5}, {"loss/test", 0}, {"consensus_distance", 0}, {"bits/payload", 96}, {"bits/wire", 0}};
  EXPECT_EQ(one.records.back(), tensorboard_scalars(wall_s, 350, points)) << "without an accuracy that is not there";
  one.run.on_evaluation({.step = 360, .test_accuracy = 0.75, .payload_bits_between_islands = 12});
  EXPECT_THAT(one.records.back(), AllOf(HasSubstr("accuracy/test"), HasSubstr("bits/payload_between_islands")));
  one.run.on_progress({.epoch = 4, .loss = 0.25, .accuracy = {}});
  EXPECT_THAT(one.records.back(), AllOf(HasSubstr("loss/minibatch"), HasSubstr("pace/steps_per_second")));
  one.run.on_event({.time_s = 2.5, .kind = event_kind::loss, .what = "worker 3 is lost"});
  EXPECT_EQ(one.records.back(), tensorboard_text(wall_s, 400, "events/loss", "    2.5 s  worker 3 is lost"))
      << "at the step of the last progress";
}

} // namespace
} // namespace gossamer::actors
