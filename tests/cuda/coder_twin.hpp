#pragma once

#include "gossamer/compress/coder.hpp"

#include <bit>

#include "cuda/codec_twin.hpp"

// The promises of coders of vectors on GPUs. A `Device` is a GPU, or stands in for one:
//     vec on_device(const vec& v)
//     const compress::coder& coder()
namespace gossamer::test {

inline bool is_on_device(const vec& v) { return v.remote() && v.remote()->on_device() != nullptr; }

/// Adapts the coder to the `Backend` of codec_twin.hpp. (`offset` means nothing to a vec.)
template <class Device>
struct coder_backend {
  Device& device;
  buffer_pool pool = {};

  compress::packet encode(const std::string& spec, const std::vector<float>& v, unsigned, std::uint64_t step) {
    const vec there = device.on_device(vec{pool, v});
    return device.coder().encode(*compress::make_codec(spec), there, codec_randomness, step);
  }

  std::vector<float> decode_add(const compress::packet& p, float a, const std::vector<float>& y, unsigned) {
    vec sum = device.on_device(vec{pool, y});
    const vec before = sum;
    try {
      sum += a * device.coder().decode(p);
    } catch (const error&) {
      EXPECT_EQ(sum, before) << "a packet that is refused leaves the sum as it is";
      throw;
    }
    EXPECT_TRUE(is_on_device(sum));
    return {sum.view().begin(), sum.view().end()};
  }
};

inline std::vector<std::string> coder_specs() {
  auto specs = device_specs();
  for (const auto* spec : host_specs)
    specs.emplace_back(spec);
  return specs;
}

inline std::vector<codec_input> coder_inputs() {
  std::vector<codec_input> inputs;
  for (std::size_t size : {0u, 1u, 31u, 33u, 4097u})
    inputs.push_back({"normal " + std::to_string(size), normal_values(size)});
  inputs.push_back({"zero", std::vector<float>(100, 0.0f)});
  return inputs;
}

template <class Device>
void expect_coder_of_the_processor(Device& device, const std::string& spec) {
  coder_backend<Device> backend{device};
  buffer_pool pool;
  const auto codec = compress::make_codec(spec);
  for (const auto& input : coder_inputs()) {
    ASSERT_NO_FATAL_FAILURE(expect_packets_of_the_processor(backend, spec, input, 0));
    ASSERT_NO_FATAL_FAILURE(expect_sums_of_the_processor(backend, spec, input, 0));
    const vec v{pool, input.values};
    ASSERT_EQ(difference(device.coder().encode(*codec, v, codec_randomness, 7), codec->encode(v, codec_randomness, 7)),
              "")
        << spec << " of " << input.name << " on the host";
  }
  auto values = normal_values(100);
  values[70] = std::numeric_limits<float>::quiet_NaN();
  expect_refusal_of_the_processor(backend, spec, values);
}

/// Tries all operations on a decoded vector except the sums above.
template <class Device>
void expect_decoded_vectors_of_the_processor(Device& device, const std::string& spec) {
  buffer_pool pool;
  const auto codec = compress::make_codec(spec);
  for (const auto& input : coder_inputs()) {
    SCOPED_TRACE(spec + " of " + input.name);
    const vec y{pool, normal_values(input.values.size(), 0.1f)};
    const auto p = codec->encode(vec{pool, input.values}, codec_randomness, 1);
    const auto q = codec->encode(y, codec_randomness, 2);
    const vec expected = compress::decode(p), other = compress::decode(q);
    const vec d = device.coder().decode(p), e = device.coder().decode(q), there = device.on_device(y);
    const vec copy = d;

    ASSERT_EQ(d.size(), expected.size());
    ASSERT_EQ(zeros_like(d), zeros_like(expected));
    const auto all = [](const vec& a, const vec& b, const vec& c) {
      vec scaled = a, twice = a;
      return std::vector<vec>{0.5f * a,     a + b,     0.5f * (a - b), a - 0.7f * b, a + c,
                              a - 0.3f * c, c + b - a, c + 0.3f * a,   scaled *= 3,  twice += twice};
    };
    const auto sums = all(expected, other, y);
    for (const auto& here : {all(d, e, there), all(d, e, y)})
      for (std::size_t k = 0; k < sums.size(); ++k) {
        ASSERT_EQ(here[k], sums[k]) << k;
      }
    for (const vec& sum : all(d, e, there)) {
      ASSERT_TRUE(is_on_device(sum));
    }
    ASSERT_FALSE(is_on_device(y + d)) << "what was on the host stays there";
    ASSERT_EQ(d.data(), copy.data()) << "decoded once for all copies";
    ASSERT_EQ(d, expected);
    ASSERT_EQ(there + d, y + expected) << "also when it has been decoded";

    vec written = d;
    if (!written.empty()) {
      written.mutate()[0] = 5;
      ASSERT_EQ(written[0], 5);
    }
    ASSERT_EQ(copy, expected);
  }
}

/// Returns codecs that tell which elements they keep.
inline std::vector<std::string> linear_specs() {
  return {"identity",
          "grbs:ratio=3",
          "grbs:ratio=3,blocks=5",
          "grbs:ratio=4,layout=tensor",
          "random-k:indices=seed",
          "random-k:fraction=0.7,indices=seed",
          "random-p:indices=seed"};
}

/// True if the bits are equal, or both are NaN.
inline bool identical(const vec& a, const vec& b) {
  return std::ranges::equal(a.view(), b.view(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  });
}

/// The kept elements of v, v without them, and v plus 0.3 times them.
struct parts_of_vec {
  vec values, rest, sum;
};

inline parts_of_vec split(const compress::coder& c, const compress::selection& kept, const vec& v) {
  vec rest = v, sum = v;
  const vec values = c.extract(kept, rest);
  buffer_pool pool;
  std::vector<float> behind_others(3, 9.0f);
  behind_others.insert(behind_others.end(), values.view().begin(), values.view().end());
  c.scatter_add(sum, 0.3f, vec{pool, behind_others}, 3, kept);
  return {values, rest, sum};
}

template <class Device>
void expect_selections_of_the_processor(Device& device, const std::string& spec) {
  buffer_pool pool;
  const auto codec = compress::make_codec(spec);
  auto inputs = coder_inputs();
  inputs.push_back({"huge", normal_values(300, std::numeric_limits<float>::max())}); // some are infinite
  inputs.push_back({"NaN", std::vector<float>(70, std::numeric_limits<float>::quiet_NaN())});
  for (const auto& input : inputs) {
    SCOPED_TRACE(spec + " of " + input.name);
    const vec v{pool, input.values};
    const auto kept = codec->select(v.size(), codec_randomness, 4);
    const auto expected = split(compress::coder{}, kept, v);
    if (std::isfinite(max_magnitude(v.view()))) {
      const vec decoded = compress::decode(codec->encode(v, codec_randomness, 4));
      ASSERT_EQ(expected.values.size(), kept.size());
      ASSERT_EQ(expected.rest, v - decoded);
      ASSERT_EQ(expected.sum, v + 0.3f * decoded);
    }
    for (const vec& whole : {v, device.on_device(v)}) {
      const auto parts = split(device.coder(), kept, whole);
      ASSERT_FALSE(is_on_device(parts.values));
      ASSERT_EQ(is_on_device(parts.rest), is_on_device(whole));
      ASSERT_EQ(is_on_device(parts.sum), is_on_device(whole));
      ASSERT_TRUE(identical(parts.values, expected.values));
      ASSERT_TRUE(identical(parts.rest, expected.rest));
      ASSERT_TRUE(identical(parts.sum, expected.sum));
      ASSERT_TRUE(identical(whole, v)) << "what shares elements keeps them";
    }
    vec sum = device.on_device(v + v);
    const auto* const before = sum.remote().get();
    device.coder().scatter_add(sum, -1, expected.values, 0, kept);
    ASSERT_EQ(sum.remote().get(), before) << "what nobody shares stays where it is";
  }
}

/// Expects a damaged packet to be refused, at the latest when any reader first uses the vector.
template <class Device>
void expect_damaged_vectors_refused(Device& device) {
  coder_backend<Device> backend{device};
  expect_damaged_packets_refused(backend);
  const auto readers = {
      +[](const vec& d, const vec&) { d.view(); },
      +[](const vec& d, const vec&) { vec{2.0f * d}; },
      +[](const vec& d, const vec& there) { vec{d} += there; },
  };
  for (const auto& p : damaged_packets())
    for (const auto read : readers)
      try {
        read(device.coder().decode(p.damaged), device.on_device(vec{backend.pool, p.damaged.elements}));
        ADD_FAILURE() << "accepted: " << p.expected;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::bad_packet) << e.what();
      }
}

} // namespace gossamer::test
