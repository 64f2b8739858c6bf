// Throughput of each kernel of the codecs on a GPU, in bytes read and written per second, beside a copy within the GPU:
//   gpu_codec_bench [log2 of the elements, 28] [runs, 20]
// It prints a table of medians over the runs.
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compress/cuda/signs.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gossamer {
namespace {

using cuda::device_buffer;
using cuda::kernel_time;

const random_stream randomness{1, 0, purpose::quantise};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Bytes that a kernel reads and writes, for a packet of so many elements, payload bytes and kept values.
double bytes_of(std::string_view kernel, double elements, double payload, double kept) {
  const double vector = 4 * elements, signs = elements / 8;
  if (kernel == "find_ranges" || kernel == "sum_blocks" || kernel == "count_first_digits")
    return vector;
  if (kernel == "pack_levels")
    return vector + payload;
  if (kernel == "pack_bits")
    return vector + signs;
  if (kernel == "add_levels" || kernel == "add_sign_bits")
    return 2 * vector + payload;
  if (kernel == "gather_ranges")
    return 8 * kept;
  if (kernel == "add_ranges")
    return 12 * kept;
  if (kernel == "add_places")
    return 8 * kept + payload;
  return 0; // small, or not a function of the sizes
}

class bench {
public:
  bench(std::uint64_t elements, int runs)
      : stream_(0), elements_(elements), runs_(runs), v_(stream_, 4 * elements), y_(stream_, 4 * elements) {
    std::vector<std::uint32_t> words(1 << 20);
    std::vector<float> values(words.size());
    for (std::uint64_t begin = 0; begin < elements; begin += values.size()) { // about normal: the sum of three bytes
      randomness.fill(0, begin, words);
      std::ranges::transform(words, values.begin(), [](auto w) {
        return static_cast<float>(w >> 24) + static_cast<float>(w >> 16 & 255) + static_cast<float>(w >> 8 & 255)
               - 382.5f + static_cast<float>(w & 255) / 256;
      });
      const auto count = std::min<std::uint64_t>(values.size(), elements - begin);
      cuda::upload(stream_, v_.data() + 4 * begin, std::as_bytes(std::span{values}.first(count)));
    }
    stream_.wait();
    stream_.measure();
  }

  void copy() {
    std::vector<double> seconds;
    for (int r = 0; r <= runs_; ++r) { // the first run warms up
      const cuda::event begin{stream_}, end{stream_};
      begin.record(stream_);
      cuda::copy(stream_, y_.data(), v_.data(), v_.size());
      end.record(stream_);
      end.wait();
      seconds.push_back(end.seconds_since(begin));
    }
    seconds.erase(seconds.begin());
    copied_ = 2 * static_cast<double>(v_.size()) / median(seconds);
    fmt::print("| copy | | {:.0f} | 100 % |\n", copied_ * 1e-9);
  }

  void codec(const std::string& spec) {
    const auto codec = compress::make_codec(spec);
    const auto encode = [&](auto v) { return compress::cuda::encode(stream_, *codec, v, randomness, 0); };
    const std::span v{v_.as<const float>(), elements_};
    const std::span y{y_.as<float>(), elements_};
    auto p = encode(v);
    const double payload = static_cast<double>(p.payload.size()), whole = 4 * static_cast<double>(elements_);
    const bool some = spec.starts_with("top-k") || spec.starts_with("random-k") || spec.starts_with("grbs");
    const double values = some ? payload / (spec.starts_with("top-k") ? 4 + 28.0 / 8 : 4) : 0;
    rows(spec + ", encode", payload, values,
         some && !spec.starts_with("top-k") ? 4 * values + payload : whole + payload, [&] { p = encode(v); });
    rows(spec + ", decode", payload, values, (some ? 8 * values : 2 * whole) + payload,
         [&] { compress::cuda::decode_add(stream_, p, 0.5f, y); });
  }

  void merge() {
    const auto words = compress::sign_words(elements_);
    const device_buffer v{stream_, 8 * words}, w{stream_, 8 * words}, r{stream_, 8 * words};
    const auto signs = [&](const device_buffer& b) { return std::span{b.as<std::uint64_t>(), words}; };
    compress::cuda::pack_signs(stream_, {v_.as<const float>(), elements_}, signs(v));
    cuda::copy(stream_, w.data(), v.data(), v.size());
    const double bits = 8 * static_cast<double>(words);
    rows("Marsit, draw", 0, 0, 2 * bits,
         [&] { compress::cuda::draw_transient(stream_, signs(w), 3, 1, elements_, randomness, 0, 0, signs(r)); });
    rows("Marsit, merge", 0, 0, 4 * bits,
         [&] { compress::cuda::merge_signs(stream_, signs(v), signs(w), signs(r), signs(w)); });
  }

private:
  /// Prints a row for each kernel whose bytes are known, and one for all of them together.
  /// @param least bytes that have to be read and written, whatever the kernels
  void rows(const std::string& what, double payload, double values, double least, const std::function<void()>& work) {
    work();
    stream_.measured();
    std::vector<std::string> order;
    std::map<std::string, std::vector<double>> seconds;
    std::vector<double> total;
    for (int r = 0; r < runs_; ++r) {
      work();
      std::map<std::string, double> of_run;
      double sum = 0;
      for (const auto& [name, time] : stream_.measured()) {
        if (std::ranges::find(order, name) == order.end())
          order.emplace_back(name);
        of_run[name] = std::max(of_run[name], time); // of several launches, the one over the whole vector
        sum += time;
      }
      for (const auto& [name, time] : of_run)
        seconds[name].push_back(time);
      total.push_back(sum);
    }
    for (const auto& name : order)
      if (const double bytes = bytes_of(name, static_cast<double>(elements_), payload, values);
          bytes > 0 && order.size() > 1)
        row(what, name, bytes / median(seconds[name]));
    row(what, order.size() == 1 ? order.front() : "all kernels", least / median(total));
  }

  void row(const std::string& what, const std::string& kernel, double rate) const {
    fmt::print("| {} | {} | {:.0f} | {:.0f} % |\n", what, kernel, rate * 1e-9, 100 * rate / copied_);
  }

  cuda::stream stream_;
  std::uint64_t elements_;
  int runs_;
  device_buffer v_, y_;
  double copied_ = 0;
};

void run(int log2_elements, int runs) {
  const auto gpu = cuda::gpus().front();
  bench b{std::uint64_t{1} << log2_elements, runs};
  fmt::print("{}, 2^{} floats, medians of {} runs\n\n", gpu.name, log2_elements, runs);
  fmt::print("| what | kernel | GB/s | of the copy |\n|---|---|---|---|\n");
  b.copy();
  for (const auto* spec : {"uniform:bits=8", "uniform:bits=4", "min-max", "min-max:chunk=512", "qsgd", "qsgd:norm=max",
                           "terngrad", "sign", "scaled-sign", "ssdm", "grbs", "random-k:indices=seed", "top-k"})
    b.codec(spec);
  b.merge();
}

} // namespace
} // namespace gossamer

int main(int count, char** arguments) {
  try {
    const auto number = [&](int i, int otherwise, int most) {
      return count <= i ? otherwise : static_cast<int>(gossamer::parse_integer("argument", arguments[i], 1, most));
    };
    gossamer::run(number(1, 28, 31), number(2, 20, 10'000));
    return 0;
  } catch (const gossamer::error& e) {
    fmt::print(stderr, "gpu_codec_bench: {}\n", e.what());
    return e.exit_status();
  }
}
