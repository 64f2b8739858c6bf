// Gradients as workers compute them, and the matrix products behind them.
#include "gossamer/base/philox.hpp"
#include "gossamer/compute/matrix.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace gossamer::compute {
namespace {

std::vector<float> random_values(std::size_t size) {
  random_sequence numbers{random_stream{1, 0, purpose::synthetic}, 0};
  std::vector<float> values(size);
  for (float& v : values)
    v = 2 * numbers.uniform() - 1;
  return values;
}

void count_operations(benchmark::State& state, double operations) {
  state.counters["flops"] = benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate);
}

using product = void (*)(matrix, const_matrix, const_matrix, onto);

/// c (rows x columns) from operands that are stored as a (a_rows x a_columns) and b (b_rows x
/// b_columns).
void product_of(benchmark::State& state, product multiply_as, std::size_t rows, std::size_t columns,
                std::size_t depth) {
  const auto a = random_values(rows * depth), b = random_values(depth * columns);
  std::vector<float> c(rows * columns);
  const bool at = multiply_as == multiply_at, bt = multiply_as == multiply_bt;
  const const_matrix left{a, at ? depth : rows, at ? rows : depth};
  const const_matrix right{b, bt ? columns : depth, bt ? depth : columns};
  for (auto _ : state) {
    multiply_as({c, rows, columns}, left, right, onto::overwrite);
    benchmark::ClobberMemory();
  }
  count_operations(state, 2.0 * static_cast<double>(rows * columns * depth));
}

BENCHMARK_CAPTURE(product_of, square_1024, multiply, 1024, 1024, 1024);
BENCHMARK_CAPTURE(product_of, forward_32x784_784x100, multiply, 32, 100, 784);
BENCHMARK_CAPTURE(product_of, weights_784x32_32x100, multiply_at, 784, 100, 32);
BENCHMARK_CAPTURE(product_of, errors_32x100_100x784, multiply_bt, 32, 784, 100);
BENCHMARK_CAPTURE(product_of, forward_128x784_784x100, multiply, 128, 100, 784);
BENCHMARK_CAPTURE(product_of, weights_784x128_128x100, multiply_at, 784, 100, 128);
BENCHMARK_CAPTURE(product_of, forward_32x100_100x10, multiply, 32, 10, 100);

dataset dense_data(std::size_t samples, std::size_t features, std::size_t classes) {
  dataset data;
  data.samples = samples;
  data.features = features;
  data.classes = classes;
  const auto values = random_values(samples * features);
  data.dense.assign(values.begin(), values.end());
  for (std::size_t i = 0; i < samples; ++i)
    data.targets.push_back(static_cast<float>(i % classes));
  return data;
}

/// Pictures of bytes, as those of MNIST are kept.
dataset byte_data(std::size_t samples, std::size_t features, std::size_t classes) {
  dataset data = dense_data(samples, features, classes);
  large_vector<std::uint8_t> bytes;
  for (const float v : data.dense)
    bytes.push_back(static_cast<std::uint8_t>(127 * v + 128));
  data.dense = {};
  data.bytes = features_in(std::move(bytes));
  data.bytes.scales = {{.divisor = 255}};
  return data;
}

/// Rows of `stored` random columns each.
dataset sparse_data(std::size_t samples, std::size_t features, std::size_t stored) {
  dataset data = dense_data(samples, 0, 2);
  data.features = features;
  random_sequence numbers{random_stream{2, 0, purpose::synthetic}, 0};
  data.row_start.push_back(0);
  const auto stride = static_cast<std::uint32_t>(features / stored);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::uint32_t j = 0; j < stored; ++j)
      data.columns.push_back(j * stride + numbers.below(stride));
    data.row_start.push_back(data.columns.size());
  }
  const auto values = random_values(data.columns.size());
  data.values.assign(values.begin(), values.end());
  return data;
}

/// Batches walk through the data, so that rows do not come out of the cache.
void gradient_of(benchmark::State& state, const char* text, const dataset& data) {
  const auto m = make_model(text, data);
  const auto batch_size = static_cast<std::size_t>(state.range(0));
  std::vector<float> x(m->dimension()), gradient(m->dimension());
  m->initial_point(x, {1, 0, purpose::initial});
  std::vector<std::uint32_t> indices(batch_size);
  std::uint32_t next = 0;
  for (auto _ : state) {
    for (auto& i : indices)
      i = next++ % static_cast<std::uint32_t>(data.samples);
    benchmark::DoNotOptimize(m->loss_and_gradient(x, {data, indices}, gradient));
  }
  state.counters["gradients"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
  state.SetItemsProcessed(static_cast<std::int64_t>(batch_size) * state.iterations());
}

void mlp_784_100_10(benchmark::State& state) { gradient_of(state, "mlp:hidden=100", dense_data(6000, 784, 10)); }
BENCHMARK(mlp_784_100_10)->Arg(1)->Arg(32)->Arg(128)->Arg(1024);

void mlp_784_100_10_of_bytes(benchmark::State& state) {
  gradient_of(state, "mlp:hidden=100", byte_data(6000, 784, 10));
}
BENCHMARK(mlp_784_100_10_of_bytes)->Arg(1)->Arg(32)->Arg(128)->Arg(1024);

void softmax_784_10(benchmark::State& state) { gradient_of(state, "softmax", dense_data(6000, 784, 10)); }
BENCHMARK(softmax_784_10)->Arg(32);

void logistic_dense_784(benchmark::State& state) { gradient_of(state, "logistic", dense_data(6000, 784, 2)); }
BENCHMARK(logistic_dense_784)->Arg(32);

void logistic_dense_784_of_bytes(benchmark::State& state) { gradient_of(state, "logistic", byte_data(6000, 784, 2)); }
BENCHMARK(logistic_dense_784_of_bytes)->Arg(32);

void logistic_sparse_50000(benchmark::State& state) { gradient_of(state, "logistic", sparse_data(20'000, 50'000, 60)); }
BENCHMARK(logistic_sparse_50000)->Arg(1)->Arg(32)->Arg(128);

/// One step on a model that fits the caches, and on one that does not.
void step_of(benchmark::State& state, const char* text) {
  buffer_pool pool;
  vec x{pool, static_cast<std::size_t>(state.range(0))};
  const vec gradient{pool, x.size()};
  const auto optimiser = make_optimiser(text);
  for (auto _ : state) {
    optimiser->step(x, gradient, 0.1f);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.range(0) * state.iterations());
}

BENCHMARK_CAPTURE(step_of, sgd, "sgd")->Arg(100'000)->Arg(10'000'000);
BENCHMARK_CAPTURE(step_of, momentum, "momentum")->Arg(100'000)->Arg(10'000'000);
BENCHMARK_CAPTURE(step_of, adam, "adam")->Arg(100'000)->Arg(10'000'000);

} // namespace
} // namespace gossamer::compute
