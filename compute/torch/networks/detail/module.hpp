#pragma once

#include "gossamer/compute/torch/detail/network.hpp"
#include "gossamer/compute/torch/networks/detail/flat_parameters.hpp"

#include <functional>
#include <memory>
#include <set>
#include <stdexcept>

namespace gossamer::compute::libtorch {

/// An error in words for users, which names the model or the file.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The interface of a module to this library, be it of C++ or of TorchScript.
class module {
public:
  virtual ~module() = default;
  virtual named_tensors parameters() const = 0;
  virtual named_tensors buffers() const = 0;
  virtual ::torch::Tensor forward(const ::torch::Tensor& inputs) = 0;
  virtual void train(bool on) = 0;
  /// Puts these submodules, by their names, in training and all others in evaluation; the module itself is "".
  virtual void train_only(const std::set<std::string>& parts) = 0;
  virtual std::unique_ptr<module> clone() const = 0;
};

/// Writes the start of training into a tensor, chosen by the tensor's name.
using describe_start = std::function<void(tensor&)>;
/// Starts as He et al. (2015) do before rectifiers: weights of a layer N(0, 2 / inputs of a unit), factors of a
/// normalisation 1, everything else 0.
void start_before_rectifiers(tensor& t);

/// Returns a module as a network. @param what the name by which users know it
std::unique_ptr<network> make_network_of(std::unique_ptr<module> m, const network_request& wanted, std::string what,
                                         const describe_start& start);

std::unique_ptr<network> make_cnn(const network_request&);
std::unique_ptr<network> make_resnet(const network_request&);
std::unique_ptr<network> make_vgg(const network_request&);
std::unique_ptr<network> make_alexnet(const network_request&);
std::unique_ptr<network> make_transformer(const network_request&);
std::unique_ptr<network> make_torchscript(const network_request&);

} // namespace gossamer::compute::libtorch
