#pragma once

#include <gtest/gtest.h>

#include <tuple>

#include "cuda/codec_cases.hpp"

// The promises of codecs on GPUs. A `Backend` is a GPU, or stands in for one:
//     packet encode(spec, v, offset, step)        v begins `offset` floats behind an aligned address
//     vector<float> decode_add(p, a, y, offset)
namespace gossamer::test {

/// Names the cases of test suites over specs.
inline std::string spec_as_name(const testing::TestParamInfo<std::string>& instance) {
  auto name = instance.param;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

template <class Backend>
void expect_packets_of_the_processor(Backend& backend, const std::string& spec, const codec_input& input,
                                     unsigned offset) {
  SCOPED_TRACE(spec + " of " + input.name + " at " + std::to_string(offset));
  buffer_pool pool;
  const auto step = input.values.size() + offset;
  const auto expected = compress::make_codec(spec)->encode(vec{pool, input.values}, codec_randomness, step);
  ASSERT_EQ(difference(backend.encode(spec, input.values, offset, step), expected), "");
}

template <class Backend>
void expect_sums_of_the_processor(Backend& backend, const std::string& spec, const codec_input& input,
                                  unsigned offset) {
  SCOPED_TRACE(spec + " of " + input.name + " at " + std::to_string(offset));
  buffer_pool pool;
  const auto p = compress::make_codec(spec)->encode(vec{pool, input.values}, codec_randomness, 5);
  const auto y = normal_values(input.values.size(), 0.1f);
  ASSERT_EQ(backend.decode_add(p, 0.3f, y, offset), decoded_sum(p, 0.3f, y));
}

/// Returns the error of encoding on the processor.
inline std::string refusal(const std::string& spec, const std::vector<float>& values) {
  buffer_pool pool;
  try {
    std::ignore = compress::make_codec(spec)->encode(vec{pool, values}, codec_randomness, 0);
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

template <class Backend>
void expect_refusal_of_the_processor(Backend& backend, const std::string& spec, const std::vector<float>& values) {
  std::string said = "accepted";
  try {
    backend.encode(spec, values, 0, 0);
  } catch (const error& e) {
    said = e.what();
  }
  ASSERT_EQ(said, refusal(spec, values));
}

template <class Backend>
void expect_refusals_of_the_processor(Backend& backend, const std::string& spec) {
  SCOPED_TRACE(spec);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()})
    for (std::size_t at : {0u, 777u, 5000u}) {
      auto values = normal_values(5001);
      values[at] = bad;
      ASSERT_NO_FATAL_FAILURE(expect_refusal_of_the_processor(backend, spec, values));
    }
}

/// Expects a damaged packet to be refused before y is touched.
template <class Backend>
void expect_refused_packet(Backend& backend, compress::packet p, std::size_t elements, const std::string& expected) {
  try {
    backend.decode_add(p, 1, std::vector<float>(elements, 1.0f), 0);
    ADD_FAILURE() << "accepted: " << expected;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    EXPECT_NE(e.sentence().find(expected), std::string::npos) << e.sentence();
  }
}

struct damaged_packet {
  compress::packet damaged;
  std::string expected; ///< part of the error
};

inline std::vector<damaged_packet> damaged_packets() {
  buffer_pool pool;
  const vec v{pool, normal_values(300)};
  const auto packet_of = [&](const std::string& spec) {
    return compress::make_codec(spec)->encode(v, codec_randomness, 0);
  };
  std::vector<damaged_packet> result;
  auto p = packet_of("uniform");
  p.parameter = 17;
  result.push_back({p, "codes of 17 bits"});
  for (const auto* spec : {"top-k:k=20", "grbs:ratio=3", "random-k:k=9,indices=seed"}) {
    p = packet_of(spec);
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(p.payload.data() + 8, &infinity, sizeof infinity);
    result.push_back({p, "holds a value that is not finite"});
  }
  p = packet_of("top-k:k=20");
  std::fill(p.payload.data() + 80, p.payload.data() + 90, std::byte{0xFF});
  result.push_back({p, "has the place 511"});
  p.codec = 200;
  result.push_back({p, "unknown codec 200"});
  return result;
}

template <class Backend>
void expect_damaged_packets_refused(Backend& backend) {
  for (const auto& [damaged, expected] : damaged_packets())
    expect_refused_packet(backend, damaged, damaged.elements, expected);
}

template <class Backend>
void expect_packets_of_another_size_refused(Backend& backend) {
  buffer_pool pool;
  const auto p = compress::make_codec("uniform")->encode(vec{pool, normal_values(300)}, codec_randomness, 0);
  expect_refused_packet(backend, p, 299, "300 elements instead of 299");
}

} // namespace gossamer::test
