// Modules that users bring, in files that TorchScript writes.
#include "gossamer/compute/model.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <torch/script.h>

#include "support/scratch_folder.hpp"
#include "support/small_data.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class torchscript : public testing::Test {
protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  /// Saves a layer W x + b, where x is flattened.
  std::string save_layer(std::int64_t inputs, std::int64_t outputs, torch::ScalarType type = torch::kFloat) const {
    torch::jit::Module m("layer");
    const auto learnt = torch::TensorOptions{type}.requires_grad(true);
    m.register_parameter("weight", torch::full({outputs, inputs}, 0.1, learnt), false);
    m.register_parameter("bias", torch::zeros({outputs}, learnt), false);
    m.define("def forward(self, x):\n  return torch.matmul(torch.flatten(x, 1), self.weight.t()) + self.bias\n");
    m.save(path("layer.pt"));
    return "torchscript:file=" + path("layer.pt");
  }

  static std::string refusal(const std::string& text, const compute::dataset& data) {
    try {
      compute::make_model(text, data);
    } catch (const error& e) {
      EXPECT_THAT(e.code(), testing::AnyOf(errc::bad_data, errc::io)) << "so that a node asks others for the file";
      return e.what();
    }
    ADD_FAILURE() << "it is taken";
    return {};
  }

  scratch_folder folder_;
};

TEST_F(torchscript, begins_at_the_parameters_in_the_file) {
  const auto data = support::small_data(9, 4, 3);
  const auto m = compute::make_model(save_layer(4, 3), data);
  std::vector<float> x(m->dimension());
  m->initial_point(x, random_stream{1, 0, purpose::initial});
  EXPECT_EQ(m->tensor_names(), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_THAT(std::span{x}.first(12), testing::Each(0.1f));
  EXPECT_THAT(std::span{x}.last(3), testing::Each(0.0f));
}

// The module is softmax but for the order of its weights.
TEST_F(torchscript, has_the_gradient_of_the_same_model_of_ours) {
  const auto data = support::small_data(9, 4, 3);
  const auto indices = support::all_indices(data);
  const auto theirs = compute::make_model(save_layer(4, 3), data), ours = compute::make_model("softmax", data);
  const std::vector<float> x = support::wave(15, 0.4);
  std::vector<float> transposed = x, a(15), b(15);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      transposed[i * 3 + k] = x[k * 4 + i];
  EXPECT_NEAR(theirs->loss_and_gradient(x, {data, indices}, a), ours->loss_and_gradient(transposed, {data, indices}, b),
              1e-5);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(a[k * 4 + i], b[i * 3 + k], 1e-5);
}

TEST_F(torchscript, clones_compute_the_same_and_share_nothing) {
  const auto data = support::small_data(9, 4, 3);
  const auto indices = support::all_indices(data);
  const auto m = compute::make_model(save_layer(4, 3), data);
  const auto clone = m->clone(), again = clone->clone();
  const std::vector<float> x = support::wave(15, 0.4);
  std::vector<float> a(15), b(15), c(15);
  m->loss_and_gradient(x, {data, indices}, a);
  clone->loss_and_gradient(support::wave(15, 0.9), {data, indices}, b);
  again->loss_and_gradient(x, {data, indices}, c);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, c);
  EXPECT_EQ(m->evaluate(x, {data, indices}).loss, again->evaluate(x, {data, indices}).loss);
}

TEST_F(torchscript, learns_real_targets) {
  const auto data = support::small_data(9, 4, 0);
  const auto indices = support::all_indices(data);
  const auto theirs = compute::make_model(save_layer(4, 1), data), ours = compute::make_model("linear", data);
  const std::vector<float> x = support::wave(5, 0.4);
  std::vector<float> a(5), b(5);
  EXPECT_NEAR(theirs->loss_and_gradient(x, {data, indices}, a), ours->loss_and_gradient(x, {data, indices}, b), 1e-5);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_NEAR(a[k], b[k], 1e-5);
  EXPECT_FALSE(theirs->evaluate(x, {data, indices}).accuracy.has_value());
}

TEST_F(torchscript, refuses_what_does_not_fit_the_data) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(
      refusal(save_layer(4, 5), data),
      HasSubstr("layer.pt': its outputs for 2 samples are of shape [2, 5], and the targets of the data need [2, 3]"));
  EXPECT_THAT(refusal(save_layer(7, 3), data), HasSubstr("layer.pt' cannot take samples of shape [4]"));
}

TEST_F(torchscript, refuses_files_that_are_none) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(refusal("torchscript:file=" + path("missing.pt"), data), HasSubstr("there is no file '"));
  std::ofstream{path("text.pt")} << "these are no modules";
  EXPECT_THAT(refusal("torchscript:file=" + path("text.pt"), data),
              AllOf(HasSubstr("text.pt' is no file of TorchScript"), HasSubstr("torch.jit.script")));
}

TEST_F(torchscript, refuses_modules_that_cannot_be_trained) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(refusal(save_layer(4, 3, torch::kDouble), data),
              HasSubstr("parameter 'weight' is of type Double, and must be of 32-bit floats"));
  torch::jit::Module none("none");
  none.define("def forward(self, x):\n  return x\n");
  none.save(path("none.pt"));
  EXPECT_THAT(refusal("torchscript:file=" + path("none.pt"), data), HasSubstr("none.pt' has no parameters"));
}

} // namespace
} // namespace gossamer::test
