#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

// What gossamer and the library `gossamer_torch`, which it opens when it needs it, have in common. Both see this
// header; it names nothing of LibTorch, which the one is built without, and nothing of gossamer, of which the other has
// no part.
namespace gossamer::compute::libtorch {

/// Some of the parameters, or of what else a network remembers.
struct tensor {
  std::string name;
  std::vector<std::size_t> shape; ///< of PyTorch, e.g. outputs, inputs, height, width of a convolution
  /// Where training begins: at random numbers around the mean, or where the file of the network says.
  double mean = 0, deviation = 0;
  std::vector<float> values = {};

  std::size_t size() const {
    std::size_t result = 1;
    for (const auto side : shape)
      result *= side;
    return result;
  }
};

/// What is wanted of the library.
struct network_request {
  std::string kind; ///< "resnet", ...
  std::map<std::string, std::int64_t, std::less<>> numbers = {};
  std::string file = {};                     ///< of TorchScript
  std::vector<std::size_t> input_shape = {}; ///< of one sample, e.g. channels, height, width
  std::size_t classes = 0;                   ///< 0: real targets, one for each sample
  bool is_text = false; ///< samples are so many bytes, each followed by the next, the last by the target
  int threads = 1;      ///< of one operation, in the whole process
};

/// Samples one after the other, with their targets: class numbers, or real numbers.
struct minibatch {
  std::span<const float> inputs;
  std::span<const float> targets;
};

struct score {
  double loss = 0;  ///< the sum over the samples
  double right = 0; ///< so many were told rightly; of text, the share of bytes
};

/// A function of its parameters and of samples, which LibTorch computes. Parameters and gradients are one vector each,
/// tensor by tensor as `parameters()` lists them.
/// Errors: std::bad_alloc; std::runtime_error in words for users. Threads: one at a time.
class network {
public:
  virtual ~network() = default;

  virtual const std::vector<tensor>& parameters() const = 0;
  /// The mean loss over the samples, and its gradient. Normalises by the statistics of the samples.
  virtual double loss_and_gradient(std::span<const float> x, const minibatch& samples, std::span<float> gradient) = 0;

  /// Whether it normalises by statistics, which `evaluate` takes from samples that it has been shown.
  virtual bool keeps_statistics() const = 0;
  virtual void forget_statistics() = 0;
  /// The statistics become the mean of those of all minibatches shown since they were forgotten.
  virtual void show(std::span<const float> x, const minibatch& samples) = 0;
  /// What else it remembers, as PyTorch calls it, e.g. "bn1.running_mean"; their `values` are filled.
  virtual std::vector<tensor> buffers() const = 0;

  virtual score evaluate(std::span<const float> x, const minibatch& samples) = 0;
  virtual std::unique_ptr<network> clone() const = 0;
};

/// What the library exports, under the name below.
using make_network = void (*)(const network_request&, std::unique_ptr<network>& made);
/// Another one with every change of this header: an old library is then not taken for a new one.
constexpr auto make_network_name = "gossamer_torch_make_network_1";

} // namespace gossamer::compute::libtorch
