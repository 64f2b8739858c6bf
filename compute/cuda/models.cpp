#include "gossamer/compute/cuda/models.hpp"

#include "gossamer/compute/cuda/detail/network_on_gpu.hpp"

#include <fmt/format.h>

namespace gossamer::compute::cuda {

std::unique_ptr<model> on_device(const model& m, std::string_view name, gossamer::cuda::device where) {
  if (!where.on_gpu())
    return m.clone();
  const auto* host = dynamic_cast<const compute::detail::neural_network*>(&m);
  if (host == nullptr)
    throw error(errc::usage, fmt::format("model '{}' cannot be computed on a GPU", name),
                "use cpu, or one of linear, logistic, softmax and mlp");
  return network_on_gpu(*host, where.gpu());
}

} // namespace gossamer::compute::cuda
