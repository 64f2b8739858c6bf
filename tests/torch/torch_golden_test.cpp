// Compares 20 steps of SGD with those of PyTorch in Python (golden.py).
#include "gossamer/base/vec.hpp"
#include "gossamer/compute/model.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "golden.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::test {
namespace {

constexpr std::size_t steps = 20, batch_size = 8;

/// Returns the same point as `begin` of golden.py.
std::vector<float> beginning(const compute::model& m) {
  std::vector<float> x;
  const auto names = m.tensor_names();
  const auto sides = m.tensor_sides();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_factor = sides[i].size() == 1 && names[i].ends_with("weight");
    for (const float v : support::wave(m.tensors()[i].size(), 0.7))
      x.push_back(0.3f * v + (is_factor ? 1.0f : 0.0f));
  }
  return x;
}

void expect_losses(std::string_view text, const compute::dataset& data, std::span<const double> golden) {
  const auto m = compute::make_model(text, data);
  auto x = beginning(*m);
  std::vector<float> gradient(x.size());
  std::vector<std::uint32_t> indices(batch_size);
  ASSERT_EQ(golden.size(), steps);
  for (std::uint32_t t = 0; t < steps; ++t) {
    std::iota(indices.begin(), indices.end(), t * static_cast<std::uint32_t>(batch_size));
    EXPECT_NEAR(m->loss_and_gradient(x, {data, indices}, gradient), golden[t], 1e-4 * golden[t]) << "step " << t;
    add_scaled(x, -0.05f, gradient);
  }
}

TEST(one_worker, trains_a_cnn_as_pytorch_does) {
  GOSSAMER_NEEDS_TORCH();
  expect_losses("cnn:width=4,hidden=16", support::small_pictures(steps * batch_size), cnn_losses);
}

TEST(one_worker, trains_a_residual_network_as_pytorch_does) {
  GOSSAMER_NEEDS_TORCH();
  expect_losses("resnet:depth=8,width=4", support::small_pictures(steps * batch_size), resnet_losses);
}

TEST(one_worker, trains_a_transformer_as_pytorch_does) {
  GOSSAMER_NEEDS_TORCH();
  expect_losses("transformer:layers=1,width=8,heads=2,context=6", support::small_text(steps * batch_size, 6),
                transformer_losses);
}

} // namespace
} // namespace gossamer::test
