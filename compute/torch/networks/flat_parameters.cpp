#include "gossamer/compute/torch/networks/detail/flat_parameters.hpp"

#include <cstring>

namespace gossamer::compute::libtorch {

flat_parameters::flat_parameters(const named_tensors& parameters) {
  const ::torch::NoGradGuard constant;
  std::int64_t size = 0;
  for (const auto& [name, p] : parameters)
    size += p.numel();
  values_ = ::torch::empty({size});
  gradient_ = ::torch::zeros({size});
  std::int64_t begin = 0;
  for (auto [name, p] : parameters) {
    const auto view = values_.narrow(0, begin, p.numel()).view(p.sizes());
    view.copy_(p);
    p.set_data(view);
    p.mutable_grad() = gradient_.narrow(0, begin, p.numel()).view(p.sizes());
    begin += p.numel();
  }
}

void flat_parameters::set(std::span<const float> x) {
  std::memcpy(values_.data_ptr<float>(), x.data(), x.size_bytes());
}

void flat_parameters::copy_gradient(std::span<float> to) const {
  std::memcpy(to.data(), gradient_.data_ptr<float>(), to.size_bytes());
}

} // namespace gossamer::compute::libtorch
