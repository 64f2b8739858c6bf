// device_network.hpp over the queue of a GPU and cuBLAS.
#include "gossamer/base/cuda/detail/launch.cuh"
#include "gossamer/compute/cuda/detail/blas.hpp"
#include "gossamer/compute/cuda/detail/device_network.hpp"
#include "gossamer/compute/cuda/detail/network_on_gpu.hpp"

namespace gossamer::compute::cuda {

namespace {

using gossamer::cuda::stream;

class device_engine : public gossamer::cuda::device_queue {
public:
  using queue = device_queue;

  explicit device_engine(const stream& s) : device_queue(s), stream_(s), blas_(s) {}

  device_engine another() const { return device_engine{stream{stream_.gpu()}}; }
  std::shared_ptr<device_queue> beside() const { return std::make_shared<device_queue>(stream{stream_.gpu()}); }

  template <class... Arguments>
  void gemm(Arguments... arguments) const {
    stream_.make_present();
    blas_.gemm(arguments...);
  }

private:
  stream stream_;
  blas blas_;
};

using twin = device_network<device_engine>;

twin::data_sets& sets_on(int gpu) {
  static std::mutex mutex;
  static std::map<int, twin::data_sets> all;
  const std::lock_guard lock{mutex};
  return all[gpu];
}

} // namespace

std::unique_ptr<model> network_on_gpu(const compute::detail::neural_network& host, int gpu) {
  return std::make_unique<twin>(host, device_engine{stream{gpu}}, sets_on(gpu));
}

} // namespace gossamer::compute::cuda
