// Features that are kept as bytes: whoever reads them sees the bits of floats.
#include "gossamer/compute/data/detail/hold_out.hpp"
#include "gossamer/compute/model.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "data_support.hpp"
#include "support/each_instruction_set.hpp"
#include "support/environment.hpp"
#include "support/small_data.hpp"

namespace gossamer::compute {
namespace {

using test::each_instruction_set;

const std::vector<byte_scale> plain{{}}, of_channels{{.divisor = 255, .mean = 0.4914f, .deviation = 0.247f},
                                                     {.divisor = 255},
                                                     {.mean = 127.3f, .deviation = 73.9f}};

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

class byte_scales_on : public each_instruction_set {};

TEST_P(byte_scales_on, round_each_operation_as_floats_do) {
  std::vector<std::uint8_t> bytes(300);
  for (std::size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<std::uint8_t>(k);
  for (const auto& scale : {plain[0], of_channels[0], of_channels[1], of_channels[2]})
    for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 63u, 300u}) {
      std::vector<float> expected(size + 1, -7), actual = expected; // the last must stay as it is
      for (std::size_t k = 0; k < size; ++k) {
        const float share = static_cast<float>(bytes[k]) / scale.divisor;
        const float moved = share - scale.mean;
        expected[k] = moved / scale.deviation;
      }
      scale_bytes(std::span{bytes}.first(size), scale, actual);
      EXPECT_TRUE(same_bits(actual, expected)) << size << " bytes / " << scale.divisor << " - " << scale.mean;
    }
}

INSTANTIATE_TEST_SUITE_P(instruction_set, byte_scales_on, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         each_instruction_set::name);

/// Expects a model to compute the same bits of both.
void expect_the_same_bits(const std::string& spec, const dataset& bytes, const dataset& floats) {
  SCOPED_TRACE(spec);
  const auto of_bytes = make_model(spec, bytes), of_floats = make_model(spec, floats);
  std::vector<float> x(of_bytes->dimension()), y(of_floats->dimension());
  of_bytes->initial_point(x, {1, 0, purpose::initial});
  of_floats->initial_point(y, {1, 0, purpose::initial});
  ASSERT_TRUE(same_bits(x, y));
  const std::vector<std::uint32_t> indices{4, 0, 29, 7, 7, 12};
  std::vector<float> a(x.size()), b(x.size());
  EXPECT_EQ(of_bytes->loss_and_gradient(x, {bytes, indices}, a), of_floats->loss_and_gradient(x, {floats, indices}, b));
  EXPECT_TRUE(same_bits(a, b));
  EXPECT_EQ(of_bytes->evaluate(a, {bytes, indices}).loss, of_floats->evaluate(b, {floats, indices}).loss);
}

void expect_models_to_see_floats(const dataset& bytes) {
  const auto floats = support::as_floats(bytes);
  ASSERT_EQ(floats.dense.size(), bytes.bytes.all.size());
  for (const char* spec : {"quadratic", "softmax", "mlp:hidden=7"})
    expect_the_same_bits(spec, bytes, floats);
}

TEST(byte_features, are_the_same_bits_to_models) {
  expect_models_to_see_floats(support::with_bytes(support::small_data(30, 51, 3), plain));
  expect_models_to_see_floats(support::with_bytes(support::small_data(30, 51, 3), of_channels));
}

TEST(byte_features, are_the_same_bits_to_models_when_they_lie_in_a_file) {
  const scratch_folder folder;
  const test::environment_variable name{"TMPDIR", folder.path()};
  const auto all_mapped = mapped_allocator<std::uint8_t>{0};
  const auto data = support::with_bytes(support::small_data(30, 5100, 3), of_channels, all_mapped);
  EXPECT_TRUE(data.bytes.mapped);
  std::ifstream maps("/proc/self/maps");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(maps), {}), testing::HasSubstr(folder.path()));
  expect_models_to_see_floats(data);
}

TEST(byte_features, are_held_out_as_floats_are) {
  const auto bytes = support::with_bytes(support::small_data(30, 6, 3), of_channels);
  const auto split = detail::hold_out(bytes, 0.3, 5);
  expect_alike(split, detail::hold_out(support::as_floats(bytes), 0.3, 5));
  EXPECT_EQ(dense_values(split.test).size(), 9u * 6);
}

TEST(byte_features, are_shared_by_copies) {
  auto data = support::with_bytes(support::small_data(3, 2, 0), plain);
  const auto values = dense_values(data);
  const auto copy = data;
  data = {};
  EXPECT_EQ(copy.bytes.owner.use_count(), 1);
  EXPECT_EQ(dense_values(copy), values);
}

/// Returns records of CIFAR-10 whose pixels are drawn, those of one channel from few values.
std::string drawn_records(std::size_t count, unsigned seed) {
  std::mt19937 draw{seed};
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes += static_cast<char>(draw() % 10);
    for (std::size_t k = 0; k < 3 * 1024; ++k)
      bytes += static_cast<char>(k < 1024 ? draw() % 3 : draw() % 256);
  }
  return bytes;
}

/// The features of records by arithmetic of floats, plane by plane.
struct float_cifar {
  std::vector<float> values;

  explicit float_cifar(const std::string& records) {
    for (std::size_t i = 0; i < records.size(); ++i)
      if (i % 3073 != 0)
        values.push_back(static_cast<float>(static_cast<std::uint8_t>(records[i])) / 255);
  }
  void standardise_by(const float_cifar& train) {
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0, squares = 0;
      for (auto p = c; p < train.values.size() / 1024; p += 3)
        for (std::size_t k = 0; k < 1024; ++k) {
          const double value = train.values[p * 1024 + k];
          sum += value;
          squares += value * value;
        }
      const auto count = static_cast<double>(train.values.size() / 3);
      const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
      const auto by = static_cast<float>(mean);
      const auto deviation = variance > 1e-12 ? static_cast<float>(std::sqrt(variance)) : 1.0f;
      for (auto p = c; p < values.size() / 1024; p += 3)
        for (std::size_t k = 0; k < 1024; ++k)
          values[p * 1024 + k] = (values[p * 1024 + k] - by) / deviation;
    }
  }
};

TEST(byte_features, of_cifar10_are_those_of_arithmetic_with_floats) {
  const auto train = drawn_records(400, 1), test = drawn_records(7, 2);
  const scratch_folder folder;
  folder.write("data_batch_1.bin", train);
  folder.write("test_batch.bin", test);
  const auto split = load_data("cifar10:dir=" + folder.path(), 1);
  const float_cifar unscaled{train};
  auto of_train = unscaled, of_test = float_cifar{test};
  of_train.standardise_by(unscaled);
  of_test.standardise_by(unscaled);
  EXPECT_TRUE(same_bits(dense_values(split.train), of_train.values));
  EXPECT_TRUE(same_bits(dense_values(split.test), of_test.values));
}

} // namespace
} // namespace gossamer::compute
