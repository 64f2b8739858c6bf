#include "gossamer/actors/simulation/work_costs.hpp"

#include "gossamer/actors/run/thread_time.hpp"
#include "gossamer/compress/sign_bits.hpp"
#include "gossamer/compress/sign_sums.hpp"

#include <algorithm>
#include <tuple>

namespace gossamer::actors {

namespace {

constexpr auto sums_of_signs = "sign-sums";
constexpr std::size_t most_elements = 1 << 18, least_elements = 1 << 10;
constexpr std::uint64_t timed_bytes = 1 << 20;
constexpr int repetitions = 7;

/// Nanoseconds for each byte of `bytes`: the minimum of several measurements, each long enough for the clock.
template <class Action>
double per_byte(std::uint64_t bytes, Action action) {
  action(); // allocates the memory
  const auto in_a_row = 1 + timed_bytes / bytes;
  auto least = std::chrono::duration<double>::max();
  for (int i = 0; i < repetitions; ++i) {
    const auto began = thread_time();
    for (std::uint64_t k = 0; k < in_a_row; ++k)
      action();
    least = std::min(least, thread_time() - began);
  }
  return 1e9 * least.count() / static_cast<double>(in_a_row * bytes);
}

vec normal_vector(buffer_pool pool, std::size_t size) {
  vec v{pool, size};
  random_sequence draws{random_stream{1, 0, purpose::synthetic}, 0};
  for (float& x : v.overwrite())
    x = static_cast<float>(draws.normal());
  return v;
}

const random_stream& any_random() {
  static const random_stream random{1, 0, purpose::quantise};
  return random;
}

work_costs::coding measure(const compress::codec& codec, const vec& v,
                           const registry<compress::codec_entry>& known = compress::codecs()) {
  const auto bytes = v.size() * sizeof(float);
  std::uint64_t step = 0;
  compress::packet p;
  const auto encode = per_byte(bytes, [&] { p = codec.encode(v, any_random(), step++); });
  return {.encode_byte = encode, .decode_byte = per_byte(bytes, [&] { std::ignore = compress::decode(p, known); })};
}

work_costs::coding measure_sign_sums(vec v) {
  const auto bytes = v.size() * sizeof(float);
  std::vector<std::uint64_t> signs(compress::sign_words(v.size()));
  compress::pack_signs(v.view(), signs);
  auto pool = v.pool();
  const compress::sign_sums one{pool, signs, v.size()};
  auto sums = one;
  sums += one;
  compress::packet p;
  const auto encode = per_byte(bytes, [&] { p = sums.encode(compress::sign_sum_code::fixed); });
  return {.encode_byte = encode, .decode_byte = per_byte(bytes, [&] { compress::sign_sums::decode(p, v.size(), 2); })};
}

/// Mean of writing and reading a byte of a frame, as done by the sender and the receiver.
double measure_frame_byte(const vec& v) {
  auto pool = v.pool();
  const frame f{.label = {frame_kind::model}, .body = compress::make_codec("identity")->encode(v, any_random(), 0)};
  const auto bytes = write(pool, f);
  const auto writing = per_byte(bytes.size(), [&] { write(pool, f); });
  return (writing + per_byte(bytes.size(), [&] { read_frame(pool, bytes.bytes()); })) / 2;
}

} // namespace

const work_costs& default_costs() {
  static const work_costs costs{.arithmetic_byte = 0.05,
                                .random_word = 0.5,
                                .frame = 500,
                                .frame_byte = 0.1,
                                .codecs = {{"bfloat16", {0.2, 0.06}},
                                           {"chunked-top-k", {1, 0.052}},
                                           {"e3m0", {0.7, 0.24}},
                                           {"fixed-grid", {0.24, 0.07}},
                                           {"grbs", {0.0045, 0.048}},
                                           {"identity", {0, 0}},
                                           {"min-max", {0.26, 0.075}},
                                           {"optimal-p", {2, 0.34}},
                                           {"qsgd", {0.31, 0.056}},
                                           {"random-k", {0.11, 0.078}},
                                           {"random-p", {0.71, 0.28}},
                                           {"scaled-sign", {0.088, 0.047}},
                                           {"sign", {0.043, 0.048}},
                                           {sums_of_signs, {0.1, 0.1}},
                                           {"ssdm", {0.34, 0.1}},
                                           {"terngrad", {0.27, 0.061}},
                                           {"thresholds", {1.2, 0.19}},
                                           {"top-k", {0.42, 0.081}},
                                           {"uniform", {0.26, 0.062}}}};
  return costs;
}

work_costs measure_costs(const experiment& e) {
  const auto v = normal_vector(e.pool, std::clamp(e.initial.size(), least_elements, most_elements));
  auto costs = default_costs(); // with the cost of a frame's way through an actor, which is not measured
  auto y = v;
  costs.arithmetic_byte = per_byte(3 * sizeof(float) * v.size(), [&] { y += 0.5f * v; });
  std::vector<std::uint32_t> words(v.size());
  costs.random_word = per_byte(words.size(), [&] { any_random().fill(0, 0, words); });
  costs.frame_byte = measure_frame_byte(v);
  for (auto& [name, coding] : costs.codecs)
    coding = name == sums_of_signs ? measure_sign_sums(v) : measure(*compress::make_codec(name), v);
  const auto used = e.codec->spelling();
  costs.codecs[used.substr(0, used.find(':'))] =
      measure(*e.codec, normal_vector(e.pool, e.initial.size()), e.known.codecs);
  return costs;
}

std::array<work_costs::coding, 256> by_wire_number(const work_costs& costs,
                                                   const registry<compress::codec_entry>& known) {
  std::array<work_costs::coding, 256> result;
  for (const auto& codec : known)
    if (const auto found = costs.codecs.find(codec.about.name); found != costs.codecs.end())
      result[codec.wire_number] = found->second;
  if (const auto found = costs.codecs.find(sums_of_signs); found != costs.codecs.end())
    result[compress::sign_sums_wire_number] = found->second;
  return result;
}

} // namespace gossamer::actors
