// The kernels of codecs, run thread by thread on the processor. Their packets and sums equal those of the processor's
// own code, byte for byte.
#include "gossamer/compress/cuda/detail/decode.hpp"
#include "gossamer/compress/cuda/detail/needed_form.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "cuda/codec_twin.hpp"
#include "cuda/sign_twin.hpp"
#include "support/host_queue.hpp"
#include "support/usage_error.hpp"

namespace gossamer::test {
namespace {

struct host_backend {
  host_queue queue{{.threads = 64}, 6, 1};

  compress::packet encode(const std::string& spec, const std::vector<float>& v, unsigned offset, std::uint64_t step) {
    const auto memory = queue.array<float>(v.size() + offset);
    std::ranges::copy(v, memory.data() + offset);
    const auto codec = compress::make_codec(spec);
    return compress::cuda::encode(queue, *codec, *compress::cuda::needed_form(*codec),
                                  std::span<const float>{memory.data() + offset, v.size()}, codec_randomness, step);
  }

  std::vector<float> decode_add(const compress::packet& p, float a, const std::vector<float>& y, unsigned offset) {
    const auto memory = queue.array<float>(y.size() + offset);
    const std::span values{memory.data() + offset, y.size()};
    std::ranges::copy(y, values.begin());
    try {
      compress::cuda::decode_add(queue, p, a, values);
    } catch (const error&) {
      EXPECT_TRUE(std::ranges::equal(values, y)) << "a packet that is refused leaves the sum as it is";
      throw;
    }
    return {values.begin(), values.end()};
  }
};

sign_list on_host(const host_queue& queue, std::size_t words, const std::function<void(std::uint32_t*)>& action) {
  const auto memory = queue.array<std::uint64_t>(words);
  action(reinterpret_cast<std::uint32_t*>(memory.data()));
  return {memory.data(), memory.data() + words};
}

/// The steps of compress/cuda/signs.hpp.
struct host_signs {
  host_queue queue{{.threads = 64}, 6, 1};

  static const std::uint32_t* halves(const sign_list& words) {
    return reinterpret_cast<const std::uint32_t*>(words.data());
  }
  sign_list pack_signs(const std::vector<float>& v) {
    return on_host(queue, compress::sign_words(v.size()),
                   [&](auto* out) { compress::cuda::pack_signs(queue, std::span{v}, out); });
  }
  sign_list draw_transient(const sign_list& local, std::uint32_t a, std::uint32_t b, std::size_t elements,
                           std::uint64_t first) {
    return on_host(queue, local.size(), [&](auto* out) {
      compress::cuda::draw_transient(queue, halves(local), a, b, elements, codec_randomness, 9, first, out);
    });
  }
  sign_list merge_signs(const sign_list& received, const sign_list& local, const sign_list& transient) {
    return on_host(queue, local.size(), [&](auto* out) {
      compress::cuda::merge_signs(queue, halves(received), halves(local), halves(transient), 2 * local.size(), out);
    });
  }
  std::vector<float> add_signs(const sign_list& words, float magnitude, std::vector<float> y) {
    compress::cuda::add_sign_words(queue, halves(words), magnitude, y);
    return y;
  }
};

class host_twin : public testing::TestWithParam<std::string> {
protected:
  host_backend backend_;
};

TEST_P(host_twin, makes_the_packets_of_the_processor) {
  for (const auto& input : codec_inputs())
    for (unsigned offset : {0u, 1u, 2u, 3u})
      ASSERT_NO_FATAL_FAILURE(expect_packets_of_the_processor(backend_, GetParam(), input, offset));
}

TEST_P(host_twin, makes_the_packets_of_the_processor_of_large_vectors) {
  const codec_input large{"2^20 + 7", normal_values((1 << 20) + 7)};
  expect_packets_of_the_processor(backend_, GetParam(), large, 0);
}

TEST_P(host_twin, adds_what_the_processor_decodes) {
  for (const auto& input : codec_inputs())
    for (unsigned offset : {0u, 1u, 2u, 3u})
      ASSERT_NO_FATAL_FAILURE(expect_sums_of_the_processor(backend_, GetParam(), input, offset));
}

TEST_P(host_twin, refuses_what_is_not_finite_as_the_processor_does) {
  expect_refusals_of_the_processor(backend_, GetParam());
}

TEST_P(host_twin, does_not_depend_on_the_grid_or_on_the_order_of_threads) {
  const codec_input input{"normal", normal_values(9000)};
  for (std::uint64_t order = 0; order < 4; ++order)
    for (unsigned threads : {32u, 256u}) {
      host_backend other{host_queue{{.threads = threads}, 1 + 4 * static_cast<unsigned>(order), order}};
      ASSERT_NO_FATAL_FAILURE(expect_packets_of_the_processor(other, GetParam(), input, 1));
      ASSERT_NO_FATAL_FAILURE(expect_sums_of_the_processor(other, GetParam(), input, 1));
    }
}

INSTANTIATE_TEST_SUITE_P(codec, host_twin, testing::ValuesIn(device_specs()), spec_as_name);

TEST(host_twin_codecs, decode_packets_of_codecs_that_gpus_do_not_know) {
  host_backend backend;
  for (const auto* spec : host_specs)
    for (const auto& input : codec_inputs())
      ASSERT_NO_FATAL_FAILURE(expect_sums_of_the_processor(backend, spec, input, 1));
}

TEST(host_twin_codecs, are_all_in_one_of_the_lists) {
  std::set<std::string> listed;
  for (const auto& text : device_specs())
    listed.insert(spec::parse(text).name);
  for (const auto* text : host_specs)
    listed.insert(spec::parse(text).name);
  for (const auto& entry : compress::codecs())
    EXPECT_TRUE(listed.contains(entry.about.name)) << entry.about.name << ": add it to a list in codec_cases.hpp";
}

TEST(host_twin_codecs, merge_signs_as_the_processor_does) {
  host_signs backend;
  expect_signs_of_the_processor(backend);
}

TEST(host_twin_codecs, refuse_damaged_packets) {
  host_backend backend;
  expect_damaged_packets_refused(backend);
  expect_packets_of_another_size_refused(backend);
}

TEST(host_twin_codecs, name_those_that_can_encode_on_a_gpu) {
  EXPECT_EQ(
      usage_error([] { compress::cuda::needed_form(*compress::make_codec("qsgd:code=elias-dense")); }),
      "codec 'qsgd:levels=127,norm=l2,bucket=0,code=elias-dense,rounding=32' cannot encode on a GPU; those that can: "
      "uniform:bits=1, min-max, qsgd, terngrad, sign, scaled-sign, ssdm, random-p:p=0.25,indices=seed, top-k:k=5, "
      "random-k:k=30,indices=seed, grbs:ratio=3");
}

} // namespace
} // namespace gossamer::test
