// The part of compress that nvcc compiles: the steps of encode.hpp and decode.hpp over the queue of a GPU.
#include "gossamer/base/cuda/detail/launch.cuh"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compress/cuda/detail/coder_on.hpp"
#include "gossamer/compress/cuda/detail/needed_form.hpp"
#include "gossamer/compress/cuda/signs.hpp"

namespace gossamer::compress::cuda {

using gossamer::cuda::device_queue;
using gossamer::cuda::stream;

namespace {

const std::uint32_t* halves(std::span<const std::uint64_t> words) {
  return reinterpret_cast<const std::uint32_t*>(words.data());
}
std::uint32_t* halves(std::span<std::uint64_t> words) { return reinterpret_cast<std::uint32_t*>(words.data()); }

} // namespace

std::shared_ptr<const coder> gpu_coder(const stream& s, const registry<codec_entry>& known) {
  return std::make_shared<const coder_on<device_queue>>(std::make_shared<device_queue>(s), known);
}

packet encode(const stream& s, const codec& c, std::span<const float> v, const random_stream& random,
              std::uint64_t step) {
  device_queue queue{s};
  return cuda::encode(queue, c, *needed_form(c), v, random, step);
}

void decode_add(const stream& s, const packet& p, float a, std::span<float> y) {
  device_queue queue{s};
  cuda::decode_add(queue, p, a, y);
}

void pack_signs(const stream& s, std::span<const float> v, std::span<std::uint64_t> words) {
  device_queue queue{s};
  cuda::pack_signs(queue, v, halves(words));
}

void draw_transient(const stream& s, std::span<const std::uint64_t> local, std::uint32_t a, std::uint32_t b,
                    std::size_t elements, const random_stream& random, std::uint64_t step, std::uint64_t first,
                    std::span<std::uint64_t> out) {
  device_queue queue{s};
  cuda::draw_transient(queue, halves(local), a, b, elements, random, step, first, halves(out));
}

void merge_signs(const stream& s, std::span<const std::uint64_t> received, std::span<const std::uint64_t> local,
                 std::span<const std::uint64_t> transient, std::span<std::uint64_t> out) {
  device_queue queue{s};
  cuda::merge_signs(queue, halves(received), halves(local), halves(transient), 2 * out.size(), halves(out));
}

void add_signs(const stream& s, std::span<const std::uint64_t> words, float magnitude, std::span<float> values) {
  device_queue queue{s};
  cuda::add_sign_words(queue, halves(words), magnitude, values);
}

} // namespace gossamer::compress::cuda
