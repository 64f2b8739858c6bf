#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

// The interface between gossamer and the library `gossamer_torch`, which gossamer opens when it needs it. Both include
// this header. It names nothing of LibTorch, without which gossamer is built, and nothing of gossamer, of which the
// library has no part.
namespace gossamer::compute::libtorch {

/// A tensor of parameters, or of other memory of a network.
struct tensor {
  std::string name;
  std::vector<std::size_t> shape; ///< as PyTorch has it, e.g. outputs, inputs, height, width of a convolution
  /// The start of training: random numbers around the mean, or the values that the file of the network gives.
  double mean = 0, deviation = 0;
  std::vector<float> values = {};
  std::vector<std::string> other_names = {}; ///< of the same tensor, where layers are tied

  std::size_t size() const {
    std::size_t result = 1;
    for (const auto side : shape)
      result *= side;
    return result;
  }
};

/// All features of some samples.
struct value_range {
  float least = 0, most = 0;
  bool whole = true; ///< no feature has a fraction
};

/// A request to the library.
struct network_request {
  std::string kind; ///< "resnet", ...
  std::map<std::string, std::int64_t, std::less<>> numbers = {};
  std::string file = {};                     ///< a file of TorchScript
  std::vector<std::size_t> input_shape = {}; ///< sides of one sample, e.g. channels, height, width
  std::size_t classes = 0;                   ///< 0: real targets, one for each sample
  bool is_text = false; ///< samples are so many bytes, each followed by the next, the last by the target
  int threads = 1;      ///< for one operation, in the whole process
  /// Reads the training data; called while the network is made, and only if its module takes whole numbers.
  std::function<value_range()> range = {};
};

/// Samples one after the other, with their targets: class numbers, or real numbers.
struct minibatch {
  std::span<const float> inputs;
  std::span<const float> targets;
};

struct score {
  double loss = 0;  ///< the sum over the samples
  double right = 0; ///< number of samples told rightly; for text, the share of bytes
};

/// A function of its parameters and of samples, which LibTorch computes. Parameters and gradients are one vector each,
/// tensor by tensor as `parameters()` lists them.
/// Errors: std::bad_alloc; std::runtime_error in words for users. Threads: one at a time.
class network {
public:
  virtual ~network() = default;

  virtual const std::vector<tensor>& parameters() const = 0;
  /// Returns the mean loss over the samples, and writes its gradient. Normalises by the statistics of the samples.
  virtual double loss_and_gradient(std::span<const float> x, const minibatch& samples, std::span<float> gradient) = 0;

  /// True if the network normalises by statistics. `evaluate` takes them from the samples of `show`.
  virtual bool keeps_statistics() const = 0;
  virtual void forget_statistics() = 0;
  /// Makes the statistics the mean of those of all minibatches shown since they were forgotten.
  virtual void show(std::span<const float> x, const minibatch& samples) = 0;
  /// Returns the other memory of the network, as PyTorch calls it, e.g. "bn1.running_mean"; the `values` are filled.
  virtual std::vector<tensor> buffers() const = 0;

  virtual score evaluate(std::span<const float> x, const minibatch& samples) = 0;
  virtual std::unique_ptr<network> clone() const = 0;
};

/// The function that the library exports, under the name below.
using make_network = void (*)(const network_request&, std::unique_ptr<network>& made);
/// Changes with every change of this header, so that an old library is not mistaken for a new one.
constexpr auto make_network_name = "gossamer_torch_make_network_3";

} // namespace gossamer::compute::libtorch
