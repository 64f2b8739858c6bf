// The promises of GPUs, on a GPU. Every case is skipped, with the reason, where there is none.
#include "support/gpu_test.hpp"

#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/cuda/vec.hpp"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compress/cuda/signs.hpp"

#include <gmock/gmock.h>

#include "cuda/coder_twin.hpp"
#include "cuda/sign_twin.hpp"

namespace gossamer::test {
namespace {

class gpu_backend {
public:
  compress::packet encode(const std::string& spec, const std::vector<float>& v, unsigned offset, std::uint64_t step) {
    const auto memory = uploaded<float>(v, offset);
    return compress::cuda::encode(stream_, *compress::make_codec(spec), {memory.as<float>() + offset, v.size()},
                                  codec_randomness, step);
  }

  std::vector<float> decode_add(const compress::packet& p, float a, const std::vector<float>& y, unsigned offset) {
    const auto memory = uploaded<float>(y, offset);
    compress::cuda::decode_add(stream_, p, a, {memory.as<float>() + offset, y.size()});
    return downloaded<float>(memory, offset, y.size());
  }

  sign_list pack_signs(const std::vector<float>& v) {
    const auto memory = uploaded<float>(v, 0);
    const cuda::device_buffer words{stream_, sizeof(std::uint64_t) * compress::sign_words(v.size())};
    compress::cuda::pack_signs(stream_, {memory.as<float>(), v.size()}, span_of(words));
    return downloaded<std::uint64_t>(words, 0, compress::sign_words(v.size()));
  }

  sign_list draw_transient(const sign_list& local, std::uint32_t a, std::uint32_t b, std::size_t elements,
                           std::uint64_t first) {
    const auto words = uploaded<std::uint64_t>(local, 0);
    compress::cuda::draw_transient(stream_, span_of(words), a, b, elements, codec_randomness, 9, first, span_of(words));
    return downloaded<std::uint64_t>(words, 0, local.size());
  }

  sign_list merge_signs(const sign_list& received, const sign_list& local, const sign_list& transient) {
    const auto v = uploaded<std::uint64_t>(received, 0), w = uploaded<std::uint64_t>(local, 0),
               r = uploaded<std::uint64_t>(transient, 0);
    compress::cuda::merge_signs(stream_, span_of(v), span_of(w), span_of(r), span_of(w));
    return downloaded<std::uint64_t>(w, 0, local.size());
  }

  std::vector<float> add_signs(const sign_list& words, float magnitude, const std::vector<float>& y) {
    const auto memory = uploaded<float>(y, 0);
    compress::cuda::add_signs(stream_, span_of(uploaded<std::uint64_t>(words, 0)), magnitude,
                              {memory.as<float>(), y.size()});
    return downloaded<float>(memory, 0, y.size());
  }

  vec on_device(const vec& v) const { return cuda::on_gpu(stream_, v); }
  const compress::coder& coder() const { return *coder_; }

  const cuda::stream& queue() const { return stream_; }

private:
  template <class T>
  cuda::device_buffer uploaded(const std::vector<T>& values, unsigned offset) {
    cuda::device_buffer memory{stream_, (values.size() + offset) * sizeof(T)};
    cuda::upload(stream_, memory.data() + offset * sizeof(T), std::as_bytes(std::span{values}));
    return memory;
  }
  template <class T>
  std::vector<T> downloaded(const cuda::device_buffer& memory, unsigned offset, std::size_t size) {
    std::vector<T> values(size);
    cuda::download(stream_, std::as_writable_bytes(std::span{values}), memory.data() + offset * sizeof(T));
    stream_.wait();
    return values;
  }
  static std::span<std::uint64_t> span_of(const cuda::device_buffer& words) {
    return {words.as<std::uint64_t>(), words.size() / sizeof(std::uint64_t)};
  }

  cuda::stream stream_{0};
  std::shared_ptr<const compress::coder> coder_ = compress::cuda::gpu_coder(stream_);
};

class gpu : public gpu_test<std::string> {};

TEST_P(gpu, makes_the_packets_of_the_processor) {
  gpu_backend backend;
  for (const auto& input : codec_inputs())
    for (unsigned offset : {0u, 1u, 2u, 3u})
      ASSERT_NO_FATAL_FAILURE(expect_packets_of_the_processor(backend, GetParam(), input, offset));
  for (std::size_t size : {(1u << 20) + 7, (1u << 24) + 1})
    ASSERT_NO_FATAL_FAILURE(expect_packets_of_the_processor(backend, GetParam(), {"large", normal_values(size)}, 0));
}

TEST_P(gpu, adds_what_the_processor_decodes) {
  gpu_backend backend;
  for (const auto& input : codec_inputs())
    for (unsigned offset : {0u, 1u, 2u, 3u})
      ASSERT_NO_FATAL_FAILURE(expect_sums_of_the_processor(backend, GetParam(), input, offset));
  expect_sums_of_the_processor(backend, GetParam(), {"large", normal_values((1 << 20) + 7)}, 0);
}

TEST_P(gpu, refuses_what_is_not_finite_as_the_processor_does) {
  gpu_backend backend;
  expect_refusals_of_the_processor(backend, GetParam());
}

INSTANTIATE_TEST_SUITE_P(codec, gpu, testing::ValuesIn(device_specs()), spec_as_name);

class gpu_vec : public gpu {};

TEST_P(gpu_vec, is_encoded_and_decoded_as_on_the_processor) {
  gpu_backend backend;
  expect_coder_of_the_processor(backend, GetParam());
  expect_decoded_vectors_of_the_processor(backend, GetParam());
}

INSTANTIATE_TEST_SUITE_P(codec, gpu_vec, testing::ValuesIn(coder_specs()), spec_as_name);

class gpu_selection : public gpu {};

TEST_P(gpu_selection, is_taken_and_added_as_on_the_processor) {
  gpu_backend backend;
  expect_selections_of_the_processor(backend, GetParam());
}

INSTANTIATE_TEST_SUITE_P(codec, gpu_selection, testing::ValuesIn(linear_specs()), spec_as_name);

class one_gpu : public gpu {};

TEST_P(one_gpu, refuses_damaged_packets) {
  gpu_backend backend;
  expect_damaged_packets_refused(backend);
  expect_packets_of_another_size_refused(backend);
  expect_damaged_vectors_refused(backend);
}

TEST_P(one_gpu, merges_signs_as_the_processor_does) {
  gpu_backend backend;
  expect_signs_of_the_processor(backend);
}

TEST_P(one_gpu, is_used_as_the_documentation_says) {
  buffer_pool pool;
  const vec v{pool, normal_values(1000)};
  const auto& random = codec_randomness;
  const std::uint64_t step = 4;
  // snippet use begin
  const cuda::stream s{0};                 // a queue of work on cuda:0
  const vec gradient = cuda::on_gpu(s, v); // arithmetic with it is done there
  const auto codec = compress::make_codec("uniform:bits=8");
  const auto coder = compress::cuda::gpu_coder(s);
  const compress::packet p = coder->encode(*codec, gradient, random, step); // there, too
  vec sum = zeros_like(gradient);
  sum += 0.5f * coder->decode(p); // one pass over the sum
  // snippet use end
  EXPECT_TRUE(is_on_device(sum));
  EXPECT_EQ(sum, vec{0.5f * compress::decode(p)});
}

TEST_P(one_gpu, says_how_much_memory_was_asked_for_and_is_free) {
  const gpu_backend backend;
  const auto all = cuda::gpus().front().memory_bytes;
  try {
    const cuda::device_buffer too_much{backend.queue(), 2 * all};
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_THAT(e.sentence(), testing::HasSubstr("out of memory on cuda:0: " + std::to_string(2 * all) + " bytes"));
  }
  const cuda::device_buffer enough{backend.queue(), 1 << 20}; // the GPU still works
  backend.queue().wait();
}

TEST_P(one_gpu, measures_time_between_events_and_orders_streams) {
  const gpu_backend first;
  const cuda::stream second{0};
  const cuda::event begin{first.queue()}, end{second};
  const cuda::device_buffer memory{first.queue(), 1 << 20};
  begin.record(first.queue());
  cuda::clear(first.queue(), memory.data(), memory.size());
  second.follow(first.queue());
  end.record(second);
  end.wait();
  EXPECT_GE(end.seconds_since(begin), 0.0);
}

INSTANTIATE_TEST_SUITE_P(runtime, one_gpu, testing::Values("sign"), spec_as_name);

} // namespace
} // namespace gossamer::test
