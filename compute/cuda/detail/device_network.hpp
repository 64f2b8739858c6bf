#pragma once

#include "gossamer/base/cuda/detail/queue_vec.hpp"
#include "gossamer/base/cuda/detail/sums.hpp"
#include "gossamer/base/work.hpp"
#include "gossamer/compute/cuda/detail/column_lists.hpp"
#include "gossamer/compute/cuda/detail/growing_array.hpp"
#include "gossamer/compute/cuda/detail/input_kernels.hpp"
#include "gossamer/compute/cuda/detail/layer_kernels.hpp"
#include "gossamer/compute/cuda/detail/loss_kernels.hpp"
#include "gossamer/compute/cuda/detail/products.hpp"
#include "gossamer/compute/cuda/detail/resident_data.hpp"

#include <algorithm>

namespace gossamer::compute::cuda {

using compute::detail::layer_shape;
using compute::detail::neural_network;

/// The twin of a network on a GPU: the steps of models/neural_network.cpp over an engine, that is, a `device_queue`
/// (base/cuda/detail/launch.cuh) that can also multiply (products.hpp), and
///
///     another()    an engine of the same GPU that works at the same time
///     beside()     a queue of the same GPU that works at the same time, for computations of callers with gradients
///
/// Tests run the same steps on the processor (tests/support/host_engine.hpp).
template <class Engine>
class device_network final : public model {
public:
  using data_sets = resident_sets<Engine>;
  using elements = gossamer::cuda::queue_vec<typename Engine::queue>;

  /// @param sets must live as long as the model and its clones
  /// @param workspace floats that a chunk may need
  device_network(const neural_network& host, Engine engine, data_sets& sets,
                 std::size_t workspace = std::size_t{1} << 24)
      : host_(host), engine_(std::move(engine)), home_(engine_.beside()), sets_(sets), workspace_(workspace),
        lists_(host.options().widths.front()) {
    for (const auto& shape : host.layers())
      layers_.push_back({shape, {}, {}});
  }

  std::size_t dimension() const override { return host_.dimension(); }
  std::vector<tensor_shape> tensors() const override { return host_.tensors(); }
  std::vector<std::string> tensor_names() const override { return host_.tensor_names(); }
  void initial_point(std::span<float> x, const random_stream& random) const override { host_.initial_point(x, random); }
  void proximal_step(vec& x, float step) const override {
    const float threshold = step * host_.options().l1;
    const auto queue = elements::queue_of(x);
    if (threshold == 0 || queue == nullptr)
      return host_.proximal_step(x, step);
    count_arithmetic(2 * sizeof(float) * x.size());
    const auto values = elements::owned(queue, x);
    for (const auto& layer : layers_) {
      const auto w = layer.weights_in(values).values;
      queue->launch(gossamer::cuda::warps_for(w.size(), 1), shrink_weights{w.data(), w.size(), threshold});
    }
  }
  std::unique_ptr<model> clone() const override {
    return std::make_unique<device_network>(host_, engine_.another(), sets_, workspace_);
  }

  std::function<gradient_and_loss()> start_gradient(const vec& x, const batch& samples) override {
    check(samples);
    const auto count = samples.indices.size();
    auto run = std::make_shared<call>(*this, x, count);
    run->gradient = std::make_shared<elements>(home_of(x), dimension());
    const std::span sums = run->gradient->mutate();
    const auto at = enter(*run, samples);
    clear_what_is_only_added_to(sums, samples.data);
    auto mode = onto::overwrite; // the first chunk's products overwrite
    for_each_chunk(samples, [&](const chunk& c) {
      forward(at, c, 1 / static_cast<float>(count));
      backward(at, c, sums, mode);
      mode = onto::add;
    });
    if (const float l2 = host_.options().l2; l2 != 0)
      for (const auto& layer : layers_) {
        const auto w = layer.weights_in(at).values;
        run_over(w.size(), add_l2{w.data(), w.size(), l2, layer.weights_in(sums).values.data()});
      }
    ask_for_losses(*run, at, false);
    return [this, run] { return gradient_and_loss{vec{std::move(run->gradient)}, finish(*run, false).loss}; };
  }

  bool when_done(std::function<void()> f) override {
    engine_.then(std::move(f));
    return true;
  }

  double loss_and_gradient(std::span<const float> x, const batch& samples, std::span<float> gradient) override {
    GOSSAMER_ASSERT(gradient.size() == dimension(), "the gradient is of the model's dimension");
    const auto result = start_gradient(vec{engine_.host_pool(), x}, samples)();
    std::ranges::copy(result.gradient.view(), gradient.begin());
    return result.loss;
  }

  evaluation evaluate(std::span<const float> x, const batch& samples) override {
    check(samples);
    call run{*this, vec{engine_.host_pool(), x}, samples.indices.size()};
    const auto at = enter(run, samples);
    for_each_chunk(samples, [&](const chunk& c) { forward(at, c, 1); });
    ask_for_losses(run, at, true);
    return finish(run, true);
  }

private:
  template <class T>
  using array = growing_array<Engine, T>;

  struct device_layer : layer_shape {
    array<float> values; ///< of one chunk: chunk x outputs
    array<float> errors; ///< d loss / d z; the last layer's replace its values
  };
  /// Samples that are computed together.
  struct chunk {
    batch samples;
    const resident_data<Engine>& data;
    const std::uint32_t* indices; ///< on the GPU, like the verdicts
    verdict* verdicts;

    std::size_t rows() const { return samples.indices.size(); }
  };
  /// A computation under way, and the memory that it needs until it ends. The memory of the host is page-locked, so
  /// copies from a GPU are fast.
  struct call {
    call(device_network& m, const vec& point, std::size_t samples)
        : owner(m), x(elements::in(m.home_of(point), point)),
          verdicts(m.engine_.host_pool().allocate(samples * sizeof(verdict))),
          sums(m.engine_.host_pool().allocate(2 * m.layers_.size() * sizeof(double))) {
      GOSSAMER_ASSERT(point.size() == m.dimension(), "x is of the model's dimension");
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() {
      try {
        owner.engine_.wait();
      } catch (...) { // the GPU is lost, and writes no more
      }
    }

    std::span<verdict> of_samples() {
      return {reinterpret_cast<verdict*>(verdicts.data()), verdicts.size() / sizeof(verdict)};
    }
    std::span<double> of_layers() { return {reinterpret_cast<double*>(sums.data()), sums.size() / sizeof(double)}; }

    device_network& owner;
    std::shared_ptr<elements> x;
    std::shared_ptr<elements> gradient = {};
    buffer verdicts;
    buffer sums; ///< sums over the weights, as `neural_network::penalty` asks for them
  };

  /// Returns the queue of gradients at x: that of x if x is on this GPU.
  std::shared_ptr<typename Engine::queue> home_of(const vec& x) const {
    auto queue = elements::queue_of(x);
    return queue && queue->same_memory(engine_) ? queue : home_;
  }

  void check(const batch& samples) const {
    GOSSAMER_ASSERT(!samples.indices.empty(), "a batch has samples");
    GOSSAMER_ASSERT(samples.data.features == layers_.front().inputs,
                    "the data has as many features as the training data");
    for (const auto i : samples.indices) // a bad index would make the GPU fail, and the process would lose it
      GOSSAMER_ASSERT(
          i < samples.data.samples
              && (host_.options().last != criterion::cross_entropy || samples.data.label(i) < layers_.back().outputs),
          "indices are of samples, and a label is less than the number of classes");
  }

  /// @returns x on the GPU
  std::span<const float> enter(call& run, const batch& samples) {
    engine_.upload(indices_.of(engine_, samples.indices.size()), samples.indices);
    return run.x->readable_by(engine_);
  }

  const resident_data<Engine>& resident(const dataset& data) {
    auto& seen = seen_[&data];
    if (seen == nullptr)
      seen = sets_.of(engine_, data);
    return *seen;
  }

  template <class Work>
  void for_each_chunk(const batch& samples, Work work) {
    const auto count = samples.indices.size();
    std::size_t row = samples.data.sparse() ? 0 : samples.data.features;
    for (const auto& layer : layers_)
      row += 2 * layer.outputs;
    const auto most = std::clamp<std::size_t>(workspace_ / row, 16, 16384);
    const auto& data = resident(samples.data);
    const auto* indices = indices_.of(engine_, count);
    auto* verdicts = verdicts_.of(engine_, count);
    for (std::size_t i = 0; i < count; i += most)
      work(chunk{
          {samples.data, samples.indices.subspan(i, std::min(most, count - i))}, data, indices + i, verdicts + i});
  }

  /// Fills the layers' values and the verdicts; the last layer's values become errors times `share`.
  void forward(std::span<const float> x, const chunk& c, float share) {
    const_matrix below{{}, 0, 0};
    for (auto& layer : layers_) {
      const matrix z = layer_matrix(layer.values, c, layer);
      if (&layer == &layers_.front())
        multiply_samples(z, c, layer.weights_in(x));
      else
        multiply(engine_, z, below, layer.weights_in(x));
      if (&layer != &layers_.back()) {
        const over_elements all{z.rows, z.columns};
        engine_.launch(all.pieces(),
                       add_bias_and_activate{z.values.data(), all, layer.bias_in(x).data(), host_.options().hidden});
      }
      below = z;
    }
    auto& last = layers_.back();
    auto* z = last.values.of(engine_, c.rows() * last.outputs);
    const auto* bias = last.bias_in(x).data();
    const auto* targets = c.data.targets.data();
    if (const auto loss = host_.options().last; loss == criterion::cross_entropy)
      engine_.launch(c.rows(), judge_classes{z, bias, c.rows(), last.outputs, targets, c.indices, share, c.verdicts});
    else
      run_over(c.rows(), judge_one_output{z, bias, c.rows(), targets, c.indices, loss, share, c.verdicts});
  }

  void clear_what_is_only_added_to(std::span<float> gradient, const dataset& data) {
    const auto clear = [&](std::span<float> part) { engine_.clear(part.data(), part.size()); };
    for (const auto& layer : layers_)
      clear(layer.bias_in(gradient));
    if (data.sparse())
      clear(layers_.front().weights_in(gradient).values);
  }

  /// @param mode whether the products are added to the gradient or replace it
  void backward(std::span<const float> x, const chunk& c, std::span<float> gradient, onto mode) {
    matrix errors = layer_matrix(layers_.back().values, c, layers_.back());
    const float* values = nullptr;
    for (std::size_t l = layers_.size() - 1;; --l) {
      const auto& layer = layers_[l];
      engine_.launch(damp_and_sum_errors::pieces_of(layer.outputs),
                     damp_and_sum_errors{errors.values.data(), c.rows(), layer.outputs, values, host_.options().hidden,
                                         layer.bias_in(gradient).data()});
      if (l == 0) {
        add_outer_products(layer.weights_in(gradient), c, errors, mode);
        return;
      }
      auto& below = layers_[l - 1];
      const matrix inputs = layer_matrix(below.values, c, below);
      multiply_at(engine_, layer.weights_in(gradient), inputs, errors, mode);
      const matrix errors_below = layer_matrix(below.errors, c, below);
      multiply_bt(engine_, errors_below, errors, layer.weights_in(x));
      errors = errors_below;
      values = inputs.values.data();
    }
  }

  /// z = A W, where the rows of A are the samples; dense ones are gathered first.
  void multiply_samples(matrix z, const chunk& c, const_matrix weights) {
    if (!c.samples.data.sparse()) {
      multiply(engine_, z, gathered(c), weights);
      return;
    }
    engine_.launch(c.rows(),
                   multiply_sparse_rows{c.data.row_start.data(), c.data.columns.data(), c.data.values.data(), c.indices,
                                        c.rows(), weights.values.data(), weights.columns, z.values.data()});
  }

  /// gradient += A^T errors, after `multiply_samples` of the same chunk; sparse samples are always added.
  void add_outer_products(matrix gradient, const chunk& c, const_matrix errors, onto mode) {
    if (!c.samples.data.sparse()) {
      multiply_at(engine_, gradient, inputs_of(c), errors, mode);
      return;
    }
    lists_.list(c.samples);
    engine_.launch(lists_.columns.size(),
                   add_sparse_outer_products{uploaded(columns_, lists_.columns), uploaded(begins_, lists_.begins),
                                             lists_.columns.size(), uploaded(rows_, lists_.rows),
                                             uploaded(values_, lists_.values), errors.values.data(), errors.columns,
                                             gradient.values.data()});
  }

  const_matrix gathered(const chunk& c) {
    const auto rows = inputs_of(c);
    const over_elements all{rows.rows, rows.columns};
    if (c.samples.data.bytes.empty())
      engine_.launch(all.pieces(), gather_rows{c.data.dense.data(), c.indices, all, rows.values.data()});
    else
      engine_.launch(all.pieces(),
                     gather_byte_rows{c.data.bytes.data(), c.indices, all, c.data.scales.data(),
                                      static_cast<std::uint32_t>(c.data.features_of_a_scale), rows.values.data()});
    return rows;
  }

  matrix inputs_of(const chunk& c) { return device_matrix(inputs_, c.rows(), layers_.front().inputs); }
  matrix layer_matrix(array<float>& memory, const chunk& c, const layer_shape& shape) {
    return device_matrix(memory, c.rows(), shape.outputs);
  }
  matrix device_matrix(array<float>& memory, std::size_t rows, std::size_t columns) {
    return {{memory.of(engine_, rows * columns), rows * columns}, rows, columns};
  }

  template <class T>
  const T* uploaded(array<T>& to, const std::vector<T>& from) {
    auto* result = to.of(engine_, from.size());
    engine_.upload(result, std::span{from});
    return result;
  }

  /// Runs a kernel with one thread for each element.
  template <class Kernel>
  void run_over(std::size_t size, const Kernel& kernel) {
    engine_.launch(gossamer::cuda::warps_for(size, 1), kernel);
  }

  void ask_for_losses(call& run, std::span<const float> x, bool with_l1) {
    engine_.download(run.of_samples(), verdicts_.of(engine_, run.of_samples().size()));
    auto next = run.of_layers().begin();
    const auto ask = [&](auto terms, const layer_shape& layer) {
      const auto w = layer.weights_in(x).values;
      const auto sum = gossamer::cuda::sum_rows<decltype(terms)>(engine_, w.data(), w.size(), w.size());
      engine_.download(std::span{next++, 1}, sum.data());
      return 0.0;
    };
    host_.penalty(
        with_l1, [&](const auto& layer) { return ask(gossamer::cuda::squares{}, layer); },
        [&](const auto& layer) { return ask(gossamer::cuda::magnitudes{}, layer); });
  }

  /// Waits for all work, and adds up the losses in the order of the samples.
  evaluation finish(call& run, bool with_l1) {
    engine_.wait();
    double loss = 0;
    std::size_t right = 0;
    for (const auto& v : run.of_samples()) {
      loss += v.loss;
      right += v.right ? 1 : 0;
    }
    const auto count = static_cast<double>(run.of_samples().size());
    auto next = run.of_layers().begin();
    const auto take = [&](const auto&) { return *next++; };
    evaluation result{.loss = loss / count + host_.penalty(with_l1, take, take), .accuracy = {}};
    if (classifies(host_.options().last))
      result.accuracy = static_cast<double>(right) / count;
    return result;
  }

  neural_network host_;
  Engine engine_;
  std::shared_ptr<typename Engine::queue> home_; ///< the queue of gradients at points that are elsewhere
  data_sets& sets_;
  std::map<const dataset*, std::shared_ptr<const resident_data<Engine>>> seen_;
  std::size_t workspace_;
  std::vector<device_layer> layers_;
  array<float> inputs_;
  array<std::uint32_t> indices_;
  array<verdict> verdicts_;
  column_lists lists_;
  array<std::uint32_t> columns_, begins_, rows_;
  array<float> values_;
};

} // namespace gossamer::compute::cuda
