// Modules that users bring, in files that TorchScript writes.
#include "gossamer/compute/model_file.hpp"

#include "module_files.hpp"
#include "support/small_data.hpp"
#include "support/torch_cases.hpp"

namespace gossamer::test {
namespace {

using testing::HasSubstr;

class torchscript : public module_files {
protected:
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

  /// Saves W norm(drop(x)). @param asks_itself whether the module tells its normalisation that it is in training, which
  /// has no forward of its own
  std::string save_dropping_and_normalising(std::int64_t inputs, std::int64_t outputs, bool asks_itself) const {
    torch::jit::Module norm("norm"), drop("drop"), m("m");
    for (auto* one : {&norm, &drop, &m})
      one->register_attribute("training", c10::BoolType::get(), true);
    norm.register_buffer("running_mean", torch::zeros({inputs}));
    norm.register_buffer("running_var", torch::ones({inputs}));
    norm.register_buffer("count", torch::zeros({}));
    norm.define(
        "def forward(self, x):\n  self.count.add_(1)\n"
        "  return torch.batch_norm(x, None, None, self.running_mean, self.running_var, self.training, 0.1, 1e-5, "
        "False)\n");
    drop.define("def forward(self, x):\n  return torch.dropout(x, 0.5, self.training)\n");
    m.register_module("drop", drop);
    m.register_module("norm", norm);
    m.register_parameter("weight", torch::full({inputs, outputs}, 0.1).requires_grad_(true), false);
    m.define(
        asks_itself
            ? "def forward(self, x):\n  x = torch.batch_norm(x, None, None, self.norm.running_mean, "
              "self.norm.running_var, self.training, 0.1, 1e-5, False)\n  return torch.matmul(x, self.weight)\n"
            : "def forward(self, x):\n  return torch.matmul(self.norm.forward(self.drop.forward(x)), self.weight)\n");
    m.save(path("norm.pt"));
    return "torchscript:file=" + path("norm.pt");
  }

  /// Saves x A B' A, where A is `table` and B `head`.
  std::string save_table_and_head(const torch::Tensor& table, const torch::Tensor& head) const {
    torch::jit::Module m("m");
    m.register_parameter("table", table, false);
    m.register_parameter("head", head, false);
    m.define("def forward(self, x):\n"
             "  return torch.matmul(torch.matmul(torch.matmul(x, self.table), self.head.t()), self.table)\n");
    m.save(path("pair.pt"));
    return "torchscript:file=" + path("pair.pt");
  }

  static torch::Tensor learnt(const torch::Tensor& t) { return t.detach().requires_grad_(true); }
  static torch::Tensor learnt_table() { return learnt(torch::tensor(support::wave(12, 0.4)).view({4, 3})); }

  static std::vector<float> gradient_at(compute::model& m, std::span<const float> x, const compute::dataset& data) {
    std::vector<float> result(x.size());
    m.loss_and_gradient(x, {data, support::all_indices(data)}, result);
    return result;
  }

  /// Expects the statistics of the samples as they are, of which nothing dropped out.
  static void expect_statistics_of_samples(const std::vector<compute::named_tensor>& found,
                                           const compute::dataset& data) {
    const auto samples =
        torch::from_blob(const_cast<float*>(data.dense.data()),
                         {static_cast<std::int64_t>(data.samples), static_cast<std::int64_t>(data.features)});
    const auto of = [&](std::string_view name) {
      const auto one = std::ranges::find(found, name, &compute::named_tensor::name);
      return std::vector<float>(one->values.begin(), one->values.end());
    };
    for (std::int64_t k = 0; k < samples.size(1); ++k) {
      const auto column = samples.select(1, k);
      EXPECT_NEAR(of("norm.running_mean").at(static_cast<std::size_t>(k)), column.mean().item<float>(), 1e-5);
      EXPECT_NEAR(of("norm.running_var").at(static_cast<std::size_t>(k)), column.var().item<float>(), 1e-4);
    }
    EXPECT_EQ(of("norm.count"), std::vector<float>{0}) << "follows no statistics, and stays as in the file";
  }
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

TEST_F(torchscript, tells_views_of_one_memory_apart) {
  const auto data = support::small_data(9, 4, 3);
  const auto numbers = support::wave(24, 0.4);
  const auto both = torch::tensor(numbers).view({2, 4, 3});
  const auto text = save_table_and_head(learnt(both[0]), learnt(both[1]));
  const auto saved = torch::jit::load(path("pair.pt"));
  ASSERT_TRUE(saved.attr("table").toTensor().is_alias_of(saved.attr("head").toTensor())) << "in the file, too";
  const auto views = compute::make_model(text, data);
  const auto apart = compute::make_model(save_table_and_head(learnt(both[0].clone()), learnt(both[1].clone())), data);
  ASSERT_EQ(views->dimension(), 24);
  std::vector<float> x(24);
  views->initial_point(x, random_stream{1, 0, purpose::initial});
  EXPECT_EQ(x, numbers);
  for (const auto& m : {views->clone(), views->clone()->clone()})
    EXPECT_EQ(gradient_at(*m, x, data), gradient_at(*apart, x, data));
}

TEST_F(torchscript, counts_tied_parameters_once) {
  const auto data = support::small_data(9, 4, 3);
  const auto table = learnt_table();
  const auto m = compute::make_model(save_table_and_head(table, table), data);
  const auto apart = compute::make_model(save_table_and_head(table, learnt_table()), data);
  EXPECT_EQ(m->tensor_names(), std::vector<std::string>{"table"});
  ASSERT_EQ(m->dimension(), 12);
  ASSERT_EQ(apart->dimension(), 24);
  const std::vector<float> x = support::wave(12, 0.7);
  auto twice = x;
  twice.insert(twice.end(), x.begin(), x.end());
  const auto of_both = gradient_at(*apart, twice, data);
  for (const auto& one : {m->clone(), m->clone()->clone()}) {
    const auto found = gradient_at(*one, x, data);
    for (std::size_t k = 0; k < 12; ++k)
      EXPECT_NEAR(found[k], of_both[k] + of_both[12 + k], 1e-5);
  }
}

TEST_F(torchscript, exports_tied_parameters_under_each_of_their_names) {
  const auto data = support::small_data(9, 4, 3);
  const auto table = learnt_table();
  const auto m = compute::make_model(save_table_and_head(table, table), data);
  const std::vector<float> x = support::wave(12, 0.7);
  compute::write_model(path("m.npz"), *m, x);
  std::vector<std::string> names;
  for (const auto& one : compute::read_npz(path("m.npz"))) {
    names.push_back(one.name);
    EXPECT_EQ(one.shape, (std::vector<std::size_t>{4, 3})) << one.name;
    EXPECT_THAT(one.values, testing::ElementsAreArray(x)) << one.name;
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("table", "head"));
  std::vector<float> again(12);
  compute::read_model(path("m.npz"), *m, again);
  EXPECT_EQ(again, x);
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

TEST_F(torchscript, takes_statistics_where_nothing_drops_out) {
  const auto data = support::small_data(9, 4, 3);
  const auto indices = support::all_indices(data);
  const auto m = compute::make_model(save_dropping_and_normalising(4, 3, false), data);
  const std::vector<float> x = support::wave(12, 0.4);
  std::vector<float> gradient(12);
  m->loss_and_gradient(x, {data, indices}, gradient);
  const auto first = m->buffers_at(x);
  expect_statistics_of_samples(first, data);
  const auto loss = m->evaluate(x, {data, indices}).loss;
  m->loss_and_gradient(x, {data, indices}, gradient); // draws from the generator of dropout
  EXPECT_EQ(m->evaluate(x, {data, indices}).loss, loss);
  EXPECT_EQ(m->clone()->evaluate(x, {data, indices}).loss, loss);
  EXPECT_EQ(m->buffers_at(x), first);
}

TEST_F(torchscript, takes_statistics_of_a_module_that_asks_itself_whether_it_is_in_training) {
  const auto data = support::small_data(9, 4, 3);
  const auto m = compute::make_model(save_dropping_and_normalising(4, 3, true), data);
  expect_statistics_of_samples(m->buffers_at(support::wave(12, 0.4)), data);
}

// Whoever imports the parameters and the statistics into PyTorch sees the loss of the run.
TEST_F(torchscript, has_the_loss_that_pytorch_has_with_the_same_statistics) {
  const auto data = support::small_data(9, 4, 3);
  const auto indices = support::all_indices(data);
  const auto m = compute::make_model(save_dropping_and_normalising(4, 3, false), data);
  auto x = support::wave(12, 0.4);
  auto imported = torch::jit::load(path("norm.pt"));
  const torch::NoGradGuard constant;
  imported.attr("weight").toTensor().copy_(torch::from_blob(x.data(), {4, 3}));
  for (auto& b : m->buffers_at(x))
    for (const auto& to : imported.named_buffers())
      if (to.name == b.name)
        to.value.copy_(torch::from_blob(b.values.data(), to.value.sizes()));
  imported.eval();
  const auto samples = torch::from_blob(const_cast<float*>(data.dense.data()), {9, 4});
  const auto labels = torch::from_blob(const_cast<float*>(data.targets.data()), {9}).to(torch::kLong);
  const auto theirs = torch::cross_entropy_loss(imported.forward({samples}).toTensor(), labels);
  EXPECT_NEAR(m->evaluate(x, {data, indices}).loss, theirs.item<double>(), 1e-6);
}

TEST_F(torchscript, sees_the_same_in_bytes_as_in_floats) {
  const auto bytes = support::with_bytes(support::small_data(9, 4, 3), {{.divisor = 255}, {.divisor = 100}});
  const auto floats = support::as_floats(bytes);
  const auto indices = support::all_indices(bytes);
  const auto of_bytes = compute::make_model(save_layer(4, 3), bytes);
  const auto of_floats = compute::make_model(save_layer(4, 3), floats);
  const std::vector<float> x = support::wave(15, 0.4);
  std::vector<float> a(15), b(15);
  EXPECT_EQ(of_bytes->loss_and_gradient(x, {bytes, indices}, a), of_floats->loss_and_gradient(x, {floats, indices}, b));
  EXPECT_EQ(a, b);
}

TEST_F(torchscript, refuses_what_does_not_fit_the_data) {
  const auto data = support::small_data(9, 4, 3);
  EXPECT_THAT(
      refusal(save_layer(4, 5), data),
      HasSubstr("layer.pt': its outputs for 2 samples are of shape [2, 5], and the targets of the data need [2, 3]"));
  EXPECT_THAT(refusal(save_layer(7, 3), data), HasSubstr("layer.pt' cannot take samples of shape [4]"));
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
