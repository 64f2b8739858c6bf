#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/level_stream.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/norm_levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t qsgd_wire_number = 6;
constexpr int most_levels = 32767;

enum class coding : std::uint8_t { fixed, sparse, dense };

level_coding stream_of(coding code) { return code == coding::sparse ? level_coding::sparse : level_coding::dense; }

/// How a vector is written: `bucket` elements share a norm, or all of them when it is 0.
struct bucketed_layout {
  int levels;
  std::uint64_t bucket;
  coding code;

  std::vector<std::uint64_t> recipe() const { return {static_cast<std::uint64_t>(levels), bucket}; }
  std::uint64_t bucket_of(std::uint64_t elements) const { return bucket == 0 ? elements : bucket; }
  /// A vector without elements has a norm nevertheless, unless it is cut into buckets.
  std::uint64_t buckets(std::uint64_t elements) const { return bucket == 0 ? 1 : chunks_of(elements, bucket); }
  std::uint64_t norms_bits(std::uint64_t elements) const { return norm_bits * buckets(elements); }
  /// 1 + ceil(log2(s + 1)).
  int code_bits() const { return 1 + static_cast<int>(std::bit_width(static_cast<unsigned>(levels))); }
};

bucketed_layout bucketed_layout_of(const packet& p) {
  if (p.parameter > static_cast<std::uint8_t>(coding::dense))
    throw bad_packet(fmt::format("packet of codec qsgd has the code {}; allowed: 0 to 2", p.parameter));
  if (p.elements > packet_most_elements)
    throw bad_packet(
        fmt::format("packet of codec qsgd has {} elements; allowed: {}", p.elements, packet_most_elements));
  expect_recipe(p, 2);
  if (p.recipe[0] == 0 || p.recipe[0] > most_levels || p.recipe[1] > packet_most_elements)
    throw bad_packet(fmt::format("packet of codec qsgd has {} levels and buckets of {}; allowed: 1 to {} and up to {}",
                                 p.recipe[0], p.recipe[1], most_levels, packet_most_elements));
  return {static_cast<int>(p.recipe[0]), p.recipe[1], static_cast<coding>(p.parameter)};
}

void check_size(const packet& p, const bucketed_layout& form) {
  const auto norms = form.norms_bits(p.elements);
  if (form.code == coding::fixed)
    return expect_bits(p, norms + static_cast<std::uint64_t>(form.code_bits()) * p.elements);
  const auto least = norms + (form.code == coding::dense ? p.elements : 0);
  if (p.bits < least)
    throw bad_packet(fmt::format("packet of codec qsgd with {} elements carries {} bits; at least {} are needed",
                                 p.elements, p.bits, least));
  expect_bits(p, p.bits);
}

void check_norms(const packet& p, const bucketed_layout& form) {
  for (std::size_t b = 0; b < form.buckets(p.elements); ++b)
    read_norm(p.payload.data() + sizeof(float) * b, form.levels);
}

vec decode_qsgd(const packet& p) {
  const auto form = bucketed_layout_of(p);
  if (form.code == coding::fixed)
    return read_qsgd(p).values(p.payload.pool(), p.elements);
  check_size(p, form);
  check_norms(p, form);
  const auto* norms = reinterpret_cast<const float*>(p.payload.data());
  const auto codes = p.payload.bytes().subspan(form.norms_bits(p.elements) / 8);
  vec v{p.payload.pool().allocate(p.elements * sizeof(float))};
  level_reader levels(stream_of(form.code), {codes, p.bits - form.norms_bits(p.elements)}, p.elements, form.levels);
  const auto source = [&](std::size_t begin, std::size_t count, level_codes& block) {
    levels.read(begin, count, block);
  };
  const auto grid_of = [&](std::size_t b) { return norm_grid(norms[b], form.levels); };
  dequantise_blocks(level_code_bits(form.levels), form.bucket_of(p.elements), grid_of, 0, v.overwrite(), source);
  levels.expect_end();
  return v;
}

class qsgd final : public codec {
public:
  qsgd(bucketed_layout form, bool largest, rounding how) : form_(form), largest_(largest), how_(how) {}

  capabilities can() const override { return {.unbiased = true, .fixed_size = form_.code == coding::fixed}; }

  packet encode(const vec& v, const random_stream& random, std::uint64_t step) const override {
    packet p{.codec = qsgd_wire_number,
             .parameter = static_cast<std::uint8_t>(form_.code),
             .elements = v.size(),
             .bits = bits(v.size()),
             .payload = {},
             .recipe = form_.recipe()};
    if (form_.code == coding::fixed)
      encode_fixed(v, {how_, random, step}, p);
    else
      encode_stream(v, {how_, random, step}, p);
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override { return size_in_bits(elements, largest_); }
  std::uint64_t most_bits(std::size_t elements) const override { return size_in_bits(elements, true); }

  std::shared_ptr<const packet_form> form() const override {
    if (form_.code != coding::fixed)
      return nullptr;
    const auto norm = largest_ ? scale_rule::kind::largest_norm : scale_rule::kind::l2_norm;
    return make_form(qsgd_wire_number, level_packing{.recipe = form_.recipe(),
                                                     .numbers = level_form::numbers::norm,
                                                     .bits = form_.code_bits(),
                                                     .rule = {.what = norm, .levels = form_.levels},
                                                     .row = form_.bucket,
                                                     .how = how_});
  }

  double relative_error(std::size_t elements) const override {
    const auto together = static_cast<double>(std::min<std::uint64_t>(form_.bucket_of(elements), elements));
    const double s = form_.levels;
    return std::min(together / (4 * s * s), std::sqrt(together) / s);
  }

private:
  /// @returns whether all elements are finite
  bool find_norms(std::span<const float> v, std::span<float> norms) const {
    const auto bucket = form_.bucket_of(v.size());
    // Any norm that is not less than the largest element makes C unbiased, so an l2 norm may be cut to a float.
    if (!largest_)
      return std::isfinite(norms_of_rows(v, bucket, norms));
    bool finite = true;
    for_each_part(0, v.size(), bucket, [&](std::size_t b, std::size_t first, std::size_t count) {
      const auto range = range_of(v.subspan(first, count)); // for short buckets faster than `max_magnitude`
      norms[b] = std::max(range.high, -range.low);
      finite = finite && std::isfinite(norms[b]);
    });
    return finite;
  }

  /// @param all_large whether all elements of a bucket may have the largest level, as with norm=max, or when N
  /// overflows
  std::uint64_t size_in_bits(std::uint64_t elements, bool all_large) const {
    const auto norms = form_.norms_bits(elements);
    if (form_.code == coding::fixed)
      return norms + static_cast<std::uint64_t>(form_.code_bits()) * elements;
    const auto bucket = std::max<std::uint64_t>(1, form_.bucket_of(elements));
    const auto whole = elements / bucket;
    const auto most = static_cast<double>(whole) * most_stream_bits(bucket, all_large)
                      + most_stream_bits(elements % bucket, all_large);
    return norms + static_cast<std::uint64_t>(std::ceil(most));
  }

  /// The most bits of the stream of one bucket. With an l2 norm, sum y_i^2 = s^2, and |k_i| - 1 < |y_i|.
  double most_stream_bits(std::uint64_t elements, bool all_large) const {
    const double s = form_.levels, slack = 1 + 1e-5; // allowance for the rounding of floats
    const double energy = all_large ? static_cast<double>(elements) * s * s : slack * s * s;
    return most_level_bits(stream_of(form_.code), elements, form_.levels, energy);
  }

  template <class Sink>
  void quantise(const vec& v, int code_bits, const rounding_bits& random, const std::byte* norms, Sink sink) const {
    const auto grid_of = [&](std::size_t b) {
      return norm_grid(read_norm(norms + sizeof(float) * b, form_.levels), form_.levels);
    };
    quantise_blocks(code_bits, v.view(), form_.bucket_of(v.size()), grid_of, random, sink);
  }

  void write_norms(const vec& v, std::byte* out) const {
    const std::span norms{reinterpret_cast<float*>(out), form_.buckets(v.size())};
    if (v.empty())
      std::ranges::fill(norms, 0.0f);
    else if (!find_norms(v.view(), norms))
      finite_max_magnitude(v.view()); // says which element is not
    for (float& norm : norms)
      norm = sendable_norm(norm, form_.levels);
  }

  void encode_fixed(const vec& v, const rounding_bits& random, packet& p) const {
    p.payload = v.pool().allocate(whole_bytes(p.bits));
    write_norms(v, p.payload.data());
    auto* codes = p.payload.data() + form_.norms_bits(v.size()) / 8;
    const int width = form_.code_bits();
    quantise(v, width, random, p.payload.data(), [&](std::size_t begin, std::size_t count, level_codes& block) {
      pack_levels(width, block, count, codes + code_bytes(width, begin));
    });
  }

  /// Writes to memory for the longest stream first.
  void encode_stream(const vec& v, const rounding_bits& random, packet& p) const {
    const auto norms_bytes = form_.norms_bits(v.size()) / 8;
    const auto code = stream_of(form_.code);
    auto written = v.pool().allocate(norms_bytes + level_writer::most_bytes(code, v.size(), form_.levels));
    write_norms(v, written.data());
    level_writer out{code, form_.levels, written.data() + norms_bytes};
    quantise(v, level_code_bits(form_.levels), random, written.data(),
             [&](std::size_t, std::size_t count, const level_codes& block) { out.write(block, count); });
    p.bits = 8 * norms_bytes + out.finish();
    p.payload = v.pool().allocate(whole_bytes(p.bits));
    std::copy_n(written.data(), p.payload.size(), p.payload.data());
  }

  bucketed_layout form_;
  bool largest_;
  rounding how_;
};

constexpr auto qsgd_maths =
    R"(N = |v|_2, or max |v_i| when norm=max, as a 32-bit float; delta = N / s, s = levels.
y = v_i * (1 / delta), f = floor(y), k = f + [u < y - f], clamped to -s .. s; C(v)_i = k * delta, clamped to -N .. N.
u = (word >> 8) * 2^-24, where word i of the step belongs to element i. Rounding y is, in distribution, the
rounding of |y| of the paper. With bucket=n, every n elements (and what is left) have a norm of their own.
E |C(v) - v|^2 = delta^2 sum r_i (1 - r_i), r_i = frac(y_i); at most min(n / (4 s^2), sqrt(n) / s) |v|^2 for n elements
of a bucket: a quarter of the paper's first term.
code=fixed sends k in 1 + ceil(log2(s + 1)) bits. elias-sparse sends of each k that is not 0 its distance from the one
before, its sign and |k|; elias-dense sends |k| + 1 and the sign of what is not 0; numbers are in Elias' omega code.
When delta is below 2^-126, N is sent as 0. When N overflows, the largest float takes its place, which is as unbiased,
but then an Elias code may be as long as with norm=max.)";

} // namespace

level_packet read_qsgd(const packet& p) {
  const auto form = bucketed_layout_of(p);
  GOSSAMER_ASSERT(form.code == coding::fixed, "codes of variable length are read in order");
  check_size(p, form);
  check_norms(p, form);
  return {{level_form::numbers::norm, form.code_bits(), std::max<std::uint64_t>(form.bucket_of(p.elements), 1),
           form.levels},
          reinterpret_cast<const float*>(p.payload.data()),
          p.payload.data() + form.norms_bits(p.elements) / 8};
}

namespace {

std::shared_ptr<const packet_contents> contents_of_qsgd(const packet& p) {
  return bucketed_layout_of(p).code == coding::fixed ? make_contents(read_qsgd(p)) : nullptr;
}

} // namespace

codec_entry qsgd_codec() {
  return {
      .about = {.name = "qsgd",
                .summary =
                    "stochastic rounding to evenly spaced levels of a norm, with codes of fixed or variable length",
                .maths = std::string{qsgd_maths} + halves_maths,
                .reference = "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: communication-efficient SGD via gradient "
                             "quantization and encoding, NeurIPS 2017",
                .cost = "32 buckets + d (1 + ceil(log2(s + 1))) bits; elias-sparse has at most about "
                        "32 + (3 + 1.5 log2(2 (s^2 + d) / (s (s + sqrt(d))))) s (s + sqrt(d)) on average, elias-dense "
                        "about 3 d at s = sqrt(d); two passes over v and one random word an element",
                .parameters = {{.key = "levels",
                                .kind = parameter::type::integer,
                                .fallback = "127",
                                .meaning = "positive levels, s",
                                .min = 1,
                                .max = most_levels},
                               {.key = "norm",
                                .kind = parameter::type::choice,
                                .fallback = "l2",
                                .meaning = "what levels are fractions of",
                                .choices = {"l2", "max"}},
                               {.key = "bucket",
                                .kind = parameter::type::integer,
                                .fallback = "0",
                                .meaning = "elements that share a norm; 0: all",
                                .min = 0,
                                .max = static_cast<double>(packet_most_elements)},
                               {.key = "code",
                                .kind = parameter::type::choice,
                                .fallback = "fixed",
                                .meaning = "how levels are sent",
                                .choices = {"fixed", "elias-sparse", "elias-dense"}},
                               rounding_parameter()}},
      .wire_number = qsgd_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        const auto code = given.is("code", "fixed")          ? coding::fixed
                          : given.is("code", "elias-sparse") ? coding::sparse
                                                             : coding::dense;
        return std::make_unique<qsgd>(bucketed_layout{.levels = static_cast<int>(given.integer("levels")),
                                                      .bucket = static_cast<std::uint64_t>(given.integer("bucket")),
                                                      .code = code},
                                      given.is("norm", "max"), rounding_of(given));
      },
      .decode = decode_qsgd,
      .contents = contents_of_qsgd,
      .examples = {"qsgd", "qsgd:norm=max,levels=5,bucket=10", "qsgd:code=elias-sparse", "qsgd:code=elias-dense",
                   "qsgd:rounding=16"},
  };
}

} // namespace gossamer::compress::detail
