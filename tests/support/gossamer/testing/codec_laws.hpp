#pragma once

// The promises of every codec, as tests for googletest. A program with codecs of its own includes this header in one
// source, and instantiates the suite:
//
//     INSTANTIATE_TEST_SUITE_P(own, codec_law, testing::ValuesIn(codec_cases(own_codecs, all_codecs)), name_of);
#include "gossamer/base/check_entry.hpp"
#include "gossamer/base/setting.hpp"
#include "gossamer/compress/coder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

namespace gossamer::compress {

inline const random_stream law_randomness{3, 1, purpose::quantise};

/// Returns values to try for a parameter: the ends of its range and the default.
inline std::set<std::string> values_to_try(const parameter& p) {
  if (p.kind == parameter::type::choice)
    return {p.choices.begin(), p.choices.end()};
  std::set<std::string> result;
  if (!p.required)
    result.insert(p.fallback);
  if (p.kind == parameter::type::integer || p.kind == parameter::type::real)
    for (double end : {p.min, p.max})
      if (std::isfinite(end)) {
        const auto digits = std::to_string(end); // also of large integers, which `number_text` writes with an exponent
        result.insert(p.kind == parameter::type::integer ? digits.substr(0, digits.find('.')) : number_text(end));
      }
  return result;
}

/// Returns the name of a codec; its examples instead where a parameter has no default.
inline std::vector<std::string> usual_specs_of(const codec_entry& entry) {
  if (entry.examples.empty() || std::ranges::none_of(entry.about.parameters, &parameter::required))
    return {entry.about.name};
  return entry.examples;
}

/// Returns a spec with another value of one parameter.
inline std::string moved(std::string_view text, const std::string& key, const std::string& value) {
  auto result = spec::parse(text);
  std::erase_if(result.values, [&](const auto& given) { return given.first == key; });
  result.values.emplace_back(key, value);
  return result.to_string();
}

/// Returns specs of one codec, with one parameter moved at a time.
inline std::set<std::string> specs_of(const codec_entry& entry) {
  std::set<std::string> result;
  for (const auto& usual : usual_specs_of(entry)) {
    result.insert(usual);
    for (const auto& p : entry.about.parameters)
      for (const auto& value : values_to_try(p))
        result.insert(moved(usual, p.key, value));
  }
  return result;
}

/// What the laws are tried on: a spec, in a table that knows its codec.
struct codec_case {
  std::string spec;
  registry<codec_entry> known;
};

inline void PrintTo(const codec_case& c, std::ostream* out) { *out << c.spec; }

/// Returns cases for codecs: their defaults, and each parameter at the ends of its range. The examples stand for the
/// defaults of a codec that has a parameter without one.
/// @param further specs in which parameters act together, or a value inside a range takes another path
/// @error errc::usage if an entry is not complete
inline std::vector<codec_case> codec_cases(std::span<const codec_entry> entries, const registry<codec_entry>& known,
                                           std::set<std::string> further = {}) {
  for (const auto& entry : entries) {
    check_entry(known.what(), entry.about, {{"make", entry.make != nullptr}, {"decode", entry.decode != nullptr}});
    further.merge(specs_of(entry));
  }
  std::vector<codec_case> result;
  for (const auto& spec : further)
    result.push_back({spec, known});
  return result;
}

/// The spec as a name for googletest.
inline std::string name_of(const testing::TestParamInfo<codec_case>& instance) {
  auto name = instance.param.spec;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

struct law_input {
  std::string name;
  std::vector<float> values;
};

inline std::vector<float> law_values(std::size_t size) {
  std::vector<float> values(size);
  random_sequence random{{17, 0, purpose::synthetic}, size};
  for (float& x : values)
    x = static_cast<float>(random.normal());
  return values;
}

inline std::vector<law_input> law_inputs() {
  std::vector<law_input> result;
  for (std::size_t size : {0u, 1u, 31u, 32u, 33u, 1000u})
    result.push_back({"random", law_values(size)});
  result.push_back({"zero", std::vector<float>(33, 0.0f)});
  result.push_back({"negative zero", std::vector<float>(33, -0.0f)});
  result.push_back({"constant", std::vector<float>(33, 0.7f)});
  auto values = law_values(33);
  std::ranges::transform(values, values.begin(), [](float x) { return -std::fabs(x); });
  result.push_back({"all negative", values});
  values[17] = 1e30f;
  result.push_back({"one huge", values});
  std::ranges::generate(values, [x = 0.0f]() mutable { return x = std::nextafter(x, 1.0f); });
  result.push_back({"denormal", values});
  return result;
}

class codec_law : public testing::TestWithParam<codec_case> {
protected:
  const registry<codec_entry>& known() const { return GetParam().known; }
  std::unique_ptr<codec> make(std::string_view spec) const { return make_codec(spec, {}, known()); }
  packet encode(const vec& v, std::uint64_t step = 0) const { return made_->encode(v, law_randomness, step); }
  vec decode(const packet& p) const { return compress::decode(p, known()); }

  buffer_pool pool_;
  std::unique_ptr<codec> made_ = make(GetParam().spec);
};

TEST_P(codec_law, a_packet_is_what_its_header_says) {
  for (const auto& [name, values] : law_inputs()) {
    SCOPED_TRACE(name);
    const vec v{pool_, values};
    const auto p = encode(v);
    EXPECT_EQ(p.codec, known().find(spec::parse(GetParam().spec).name).wire_number);
    EXPECT_EQ(p.elements, v.size());
    EXPECT_EQ(p.payload.size(), whole_bytes(p.bits));
    EXPECT_LE(p.bits, made_->bits(v.size()));
    const bool zero = std::ranges::all_of(decode(p).view(), [](float x) { return x == 0; });
    if (made_->can().fixed_size && !zero) {
      EXPECT_EQ(p.bits, made_->bits(v.size()));
    }
  }
}

// Also where norms overflow.
TEST_P(codec_law, no_packet_is_longer_than_the_longest) {
  for (const std::size_t size : {1u, 33u, 1000u}) {
    EXPECT_LE(made_->bits(size), made_->most_bits(size));
    EXPECT_LE(encode(vec{pool_, std::vector<float>(size, 3e38f)}).bits, made_->most_bits(size)) << size << " elements";
  }
}

TEST_P(codec_law, takes_parts_of_its_tensors_unless_it_says_that_it_does_not) {
  const std::vector<tensor_shape> tensors{{4, 5}, {1, 7}};
  const auto for_tensors = make_codec(GetParam().spec, tensors, known());
  EXPECT_EQ(for_tensors->can().whole_vectors, made_->can().whole_vectors) << "asked before the tensors are known";
  const auto decoded_size = [&](std::size_t size) {
    return decode(for_tensors->encode(vec{pool_, law_values(size)}, law_randomness, 0)).size();
  };
  EXPECT_EQ(decoded_size(27), 27u);
  if (!for_tensors->can().whole_vectors) {
    EXPECT_EQ(decoded_size(10), 10u);
    return;
  }
  try {
    decoded_size(10);
    ADD_FAILURE() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
  }
}

TEST_P(codec_law, decoding_gives_a_finite_vector_of_the_same_size_also_after_a_journey) {
  for (const auto& [name, values] : law_inputs()) {
    SCOPED_TRACE(name);
    const auto p = encode(vec{pool_, values});
    const auto v = decode(p);
    ASSERT_EQ(v.size(), values.size());
    EXPECT_TRUE(std::ranges::all_of(v.view(), [](float x) { return std::isfinite(x); }));
    EXPECT_EQ(decode(read(pool_, write(p).bytes())), v);
    std::vector<float> written(v.size());
    coder{known()}.decode_into(written, p);
    EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span{written}), v.storage().bytes()));
  }
}

TEST_P(codec_law, a_second_pass_changes_nothing_where_nothing_is_drawn) {
  for (const auto& [name, values] : law_inputs())
    if (const vec v{pool_, values}; !std::ranges::equal(encode(v).payload.bytes(), encode(v, 1).payload.bytes()))
      GTEST_SKIP() << "draws";
  for (const auto& [name, values] : law_inputs()) {
    const vec once = decode(encode(vec{pool_, values}));
    EXPECT_EQ(decode(encode(once)), once) << name;
  }
}

TEST_P(codec_law, zero_stays_zero_where_the_error_is_bounded) {
  if (!std::isfinite(made_->relative_error(100)))
    GTEST_SKIP() << "makes no such claim";
  EXPECT_EQ(decode(encode(vec{pool_, 100})), (vec{pool_, 100}));
}

TEST_P(codec_law, a_mean_in_one_pass_is_that_of_decoded_vectors_bit_for_bit) {
  for (const std::size_t size : {1u, 33u, 2048u, 5003u}) { // the last take more than one block
    std::vector<packet> packets;
    for (const auto& values : {law_values(size), std::vector<float>(size, 0.0f), std::vector<float>(size, -0.7f)})
      packets.push_back(encode(vec{pool_, values}, packets.size()));
    vec sum = decode(packets[0]);
    for (std::size_t k = 1; k < packets.size(); ++k)
      sum += decode(packets[k]);
    sum *= 1.0f / static_cast<float>(packets.size());
    const vec mean = coder{known()}.mean(packets);
    ASSERT_EQ(mean.size(), size);
    EXPECT_TRUE(std::ranges::equal(mean.storage().bytes(), sum.storage().bytes())) << size << " elements";
    EXPECT_EQ(coder{known()}.mean(std::span{packets}.first(1)), decode(packets[0]));
  }
}

TEST_P(codec_law, exact_codecs_change_no_bit) {
  if (!made_->can().exact)
    GTEST_SKIP() << "makes no such claim";
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  for (const auto& [name, values] : law_inputs())
    EXPECT_TRUE(std::ranges::equal(decode(encode(vec{pool_, values})).view(), values, {}, bits, bits)) << name;
}

// T1: the mean of many draws is within 4.5 standard errors of the vector. Values below 1e-33 may be flushed to zero.
TEST_P(codec_law, unbiased_codecs_are_right_on_average) {
  if (!made_->can().unbiased)
    GTEST_SKIP() << "makes no such claim";
  constexpr int draws = 8000;
  for (const auto& [name, values] : law_inputs()) {
    // An element that is kept less than 100 times is too rare: its observed spread does not bound the error of the
    // mean.
    const double bound = made_->relative_error(values.size());
    if (values.size() > 33 || (std::isfinite(bound) && bound > draws / 100))
      continue;
    const vec v{pool_, values};
    std::vector<double> sums(v.size()), squares(v.size());
    for (int t = 0; t < draws; ++t) {
      const auto decoded = decode(encode(v, static_cast<std::uint64_t>(t)));
      for (std::size_t i = 0; i < v.size(); ++i) {
        const double error = static_cast<double>(decoded[i]) - static_cast<double>(v[i]);
        sums[i] += error;
        squares[i] += error * error;
      }
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double mean = sums[i] / draws;
      const double deviation = std::sqrt(std::max(0.0, squares[i] / draws - mean * mean));
      // Floats have 24 bits. Their rounding of the largest element is no noise.
      const double rounding = 0x1p-22 * static_cast<double>(max_magnitude(v.view()));
      EXPECT_LE(std::fabs(mean), 4.5 * deviation / std::sqrt(draws) + rounding + 1e-33) << name << " element " << i;
    }
  }
}

// T2, without values that float32 can hardly square.
TEST_P(codec_law, is_not_further_off_than_its_relative_error) {
  constexpr int draws = 300;
  for (const auto& [name, values] : law_inputs()) {
    const vec v{pool_, values};
    const double bound = made_->relative_error(v.size()), square = sum_of_squares(v.view());
    if (name == "denormal" || square == 0 || !std::isfinite(bound))
      continue;
    double sum = 0, squares = 0;
    for (int t = 0; t < draws; ++t) {
      const double error = squared_distance(decode(encode(v, static_cast<std::uint64_t>(t))).view(), v.view()) / square;
      sum += error;
      squares += error * error;
    }
    const double mean = sum / draws, deviation = std::sqrt(std::max(0.0, squares / draws - mean * mean));
    EXPECT_LE(mean, bound + 4.5 * deviation / std::sqrt(draws) + 1e-6 * bound) << name << " of " << v.size();
  }
}

TEST_P(codec_law, linear_codecs_keep_what_the_random_numbers_select) {
  if (!made_->can().linear)
    GTEST_SKIP() << "makes no such claim";
  for (const auto& [name, values] : law_inputs()) {
    const vec v{pool_, values};
    vec expected{pool_, v.size()};
    const auto kept = made_->select(v.size(), law_randomness, 7);
    std::size_t end = 0;
    for (const auto& r : kept.ranges) {
      EXPECT_GE(r.begin, end) << "ranges ascend and do not overlap";
      end = r.begin + r.size;
      ASSERT_LE(end, v.size());
      for (std::size_t i = r.begin; i < end; ++i)
        expected.mutate()[i] = kept.factor * v[i];
    }
    EXPECT_EQ(decode(encode(v, 7)), expected) << name;
  }
}

TEST_P(codec_law, the_same_call_gives_the_same_bytes) {
  const vec v{pool_, law_values(1000)};
  EXPECT_TRUE(std::ranges::equal(write(encode(v, 5)).bytes(), write(encode(v, 5)).bytes()));
  EXPECT_TRUE(
      std::ranges::equal(write(encode(v, 5)).bytes(),
                         write(make(GetParam().spec)->encode(vec{pool_, v.view()}, law_randomness, 5)).bytes()));
  auto longer = law_values(3); // the same elements elsewhere in a block
  longer.insert(longer.end(), v.view().begin(), v.view().end());
  longer.push_back(1e30f);
  const vec part = vec{pool_, longer}.part(3, v.size());
  EXPECT_TRUE(std::ranges::equal(write(encode(v, 5)).bytes(), write(encode(part, 5)).bytes()));
}

TEST_P(codec_law, another_step_gives_other_bytes_unless_deterministic) {
  const vec v{pool_, law_values(1000)};
  const auto a = encode(v, 5), b = encode(v, 6);
  if (a.bits == 0 && b.bits == 0)
    GTEST_SKIP() << "keeps so little that nothing was kept in either step";
  EXPECT_EQ(std::ranges::equal(a.payload.bytes(), b.payload.bytes()), made_->can().deterministic);
}

// A linear codec need not look at elements that it drops.
TEST_P(codec_law, refuses_numbers_that_are_not_finite) {
  const auto kept = made_->can().linear ? made_->select(33, law_randomness, 0) : selection{{{0, 33}}};
  const auto keeps = [&](std::size_t i) {
    return std::ranges::any_of(kept.ranges, [&](const auto& r) { return r.begin <= i && i < r.begin + r.size; });
  };
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  for (float bad : {infinity, -infinity, std::nanf("")})
    for (std::size_t at = 0; at < 33; ++at) {
      if (!keeps(at))
        continue;
      auto values = law_values(33);
      values[at] = bad;
      try {
        encode(vec{pool_, values});
        ADD_FAILURE() << "accepted " << bad << " at " << at;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::diverged);
      }
    }
}

TEST_P(codec_law, encoding_leaves_the_vector_alone) {
  const auto values = law_values(100);
  const vec v{pool_, values};
  const auto p = encode(v);
  auto decoded = decode(p);
  std::ranges::fill(decoded.mutate(), 0.0f);
  EXPECT_TRUE(std::ranges::equal(v.view(), values));
}

TEST_P(codec_law, knows_its_own_spelling) {
  const auto [found, values] = known().resolve(GetParam().spec);
  EXPECT_EQ(made_->spelling(), values.resolved().to_string());
  EXPECT_EQ(make(made_->spelling())->bits(1000), made_->bits(1000));
  EXPECT_FALSE(found.about.summary.empty());
  EXPECT_FALSE(found.about.maths.empty());
  EXPECT_FALSE(found.about.cost.empty());
  EXPECT_FALSE(found.examples.empty());
  for (const auto& example : found.examples)
    EXPECT_EQ(&known().resolve(example).first, &found) << example;
}

} // namespace gossamer::compress
