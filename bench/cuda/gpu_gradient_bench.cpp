// Steps per second of SGD on a GPU and on the processor, and the time that compression saves on a gradient's way to the
// host:
//   gpu_gradient_bench [minibatch, 128] [steps, 200]
// A step is a gradient at x, whose loss the host waits for, and x -= 0.01 g on the device that holds g, as in a worker.
// bench/cuda/torch_steps.py does the same steps with PyTorch, without waits.
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compute/cuda/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

namespace gossamer {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// 10,000 samples as large as those of MNIST.
compute::dataset random_images() {
  compute::dataset data{.samples = 10'000, .features = 784, .classes = 10};
  random_sequence random{{1, 0, purpose::synthetic}, 0};
  data.dense.resize(data.samples * data.features);
  std::ranges::generate(data.dense, [&] { return random.uniform(); });
  for (std::size_t i = 0; i < data.samples; ++i)
    data.targets.push_back(static_cast<float>(random.below(10)));
  return data;
}

double steps_per_second(compute::model& model, const compute::dataset& data, std::size_t batch, std::size_t steps) {
  buffer_pool pool;
  vec x{pool, model.dimension()};
  model.initial_point(x.mutate(), random_stream{1, 0, purpose::initial});
  std::vector<std::uint32_t> samples(batch);
  const auto run = [&](std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
      std::iota(samples.begin(), samples.end(), static_cast<std::uint32_t>(t * batch % (data.samples - batch)));
      x -= 0.01f * model.start_gradient(x, {data, samples})().gradient;
    }
    x.view(); // waits for the last step
  };
  run(10);
  return static_cast<double>(steps) / seconds_of([&] { run(steps); });
}

/// Copies 100 MB of floats to the host: as they are, and encoded first.
void print_way_to_host() {
  constexpr std::size_t elements = 25'000'000;
  const cuda::stream s{0};
  const cuda::device_buffer v{s, 4 * elements};
  auto host = cuda::pinned_pool().allocate(4 * elements);
  cuda::clear(s, v.data(), v.size());
  const auto codec = compress::make_codec("uniform:bits=8");
  const random_stream random{1, 0, purpose::quantise};
  const auto copy = [&] {
    cuda::download(s, host.bytes(), v.data());
    s.wait();
  };
  const std::span all{v.as<const float>(), elements};
  const auto encode = [&] { compress::cuda::encode(s, *codec, all, random, 0); };
  const auto best = [](const std::function<void()>& work) {
    double least = seconds_of(work);
    for (int k = 0; k < 10; ++k)
      least = std::min(least, seconds_of(work));
    return least;
  };
  const double copied = best(copy), encoded = best(encode);
  fmt::print("\n100 MB of floats to the host in {:.2f} ms; as uniform:bits=8 in {:.2f} ms, {:.1f} times faster\n",
             1e3 * copied, 1e3 * encoded, copied / encoded);
}

void run(std::size_t batch, std::size_t steps) {
  const auto gpu = cuda::gpus().front();
  const auto data = random_images();
  fmt::print("{}, minibatches of {}, {} steps\n\n", gpu.name, batch, steps);
  fmt::print("| MLP | steps/s on the GPU | steps/s on the processor |\n|---|---|---|\n");
  for (const std::string layers : {"100", "2048+2048"}) {
    const auto host = compute::make_model("mlp:hidden=" + layers, data);
    const auto twin = compute::cuda::on_device(*host, "mlp", cuda::device{0});
    const auto on_gpu = steps_per_second(*twin, data, batch, steps);
    fmt::print("| 784, {}, 10 | {:.0f} | {:.0f} |\n", layers, on_gpu,
               steps_per_second(*host, data, batch, std::min<std::size_t>(steps, 20)));
  }
  print_way_to_host();
}

} // namespace
} // namespace gossamer

int main(int count, char** arguments) {
  try {
    const auto number = [&](int i, std::int64_t otherwise) {
      const auto given = count <= i ? otherwise : gossamer::parse_integer("argument", arguments[i], 1, 5'000);
      return static_cast<std::size_t>(given);
    };
    gossamer::run(number(1, 128), number(2, 200));
    return 0;
  } catch (const gossamer::error& e) {
    fmt::print(stderr, "gpu_gradient_bench: {}\n", e.what());
    return e.exit_status();
  }
}
