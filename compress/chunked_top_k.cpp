// The largest elements of each chunk of a vector, in two bits each: what SparseLoCo sends, and DeMo of its cosine
// transforms. Each chunk stands alone: its numbers first, then its elements, each with its place.
#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/kept_count.hpp"
#include "gossamer/compress/detail/largest.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"
#include "gossamer/compress/detail/two_bit_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t chunked_top_k_wire_number = 19;
constexpr std::uint64_t longest_chunk = 1 << 16;
constexpr int number_bits = 32;

/// How an element is sent; the packet's parameter.
enum class value_code : std::uint8_t { as_float, symmetric, statistical };

/// Sizes of what a chunk consists of.
struct chunk_layout {
  value_code how;

  int code_bits() const { return how == value_code::as_float ? number_bits : 2; }
  std::size_t numbers() const { return how == value_code::as_float ? 0 : how == value_code::symmetric ? 2 : 4; }
  std::uint64_t each(std::uint64_t elements) const {
    return static_cast<std::uint64_t>(code_bits() + place_bits(elements));
  }
  std::uint64_t size_in_bits(std::uint64_t elements, std::uint64_t kept) const {
    return elements == 0 ? 0 : number_bits * numbers() + kept * each(elements);
  }
};

/// Encodes one chunk after the other.
class chunk_encoder {
public:
  chunk_encoder(chunk_layout layout, bit_writer& out) : layout_(layout), out_(out) {}

  /// @returns false, and nothing is written, when a value that is kept is not finite
  bool operator()(std::span<const float> chunk, const places& chosen) {
    const std::span kept{chosen.begin(), chosen.end()};
    values_.resize(kept.size());
    codes_.resize(kept.size());
    std::ranges::transform(kept, values_.begin(), [&](auto i) { return chunk[i]; });
    if (!std::isfinite(max_magnitude(values_)))
      return false;
    if (layout_.how != value_code::as_float)
      put_numbers();
    auto out = out_; // codes might be those of `out_`, for all the compiler knows
    const int code_bits = layout_.code_bits(), bits = code_bits + place_bits(chunk.size());
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const std::uint64_t code =
          layout_.how == value_code::as_float ? std::bit_cast<std::uint32_t>(values_[j]) : codes_[j];
      out.put(code | std::uint64_t{kept[j]} << code_bits, bits);
    }
    out_ = out;
    return true;
  }

private:
  void put_numbers() {
    const auto numbers =
        layout_.how == value_code::symmetric ? symmetric_codes(values_, codes_) : statistical_codes(values_, codes_);
    for (const float x : std::span{numbers}.first(layout_.numbers()))
      out_.put(std::bit_cast<std::uint32_t>(x), number_bits);
  }

  chunk_layout layout_;
  bit_writer& out_;
  std::vector<float> values_;
  std::vector<std::uint8_t> codes_;
};

/// Reads one chunk after the other.
class chunk_decoder {
public:
  chunk_decoder(chunk_layout layout, const packet& p) : layout_(layout), in_(p.payload.bytes(), p.bits) {}

  /// @param chunk zeros
  void operator()(std::span<float> chunk, std::uint64_t kept) {
    const auto of = take_numbers();
    std::uint64_t least = 0;
    for (std::uint64_t j = 0; j < kept; ++j) {
      const auto code = in_.take(layout_.code_bits());
      const auto place = in_.take(place_bits(chunk.size()));
      if (place < least || place >= chunk.size())
        throw bad_packet(fmt::format("packet of codec chunked-top-k has the place {} where {} to {} are possible",
                                     place, least, chunk.size() - 1));
      chunk[place] = layout_.how == value_code::as_float ? checked(code) : of[code];
      least = place + 1;
    }
  }

private:
  four_levels take_numbers() {
    four_levels numbers{};
    for (float& x : std::span{numbers}.first(layout_.numbers()))
      x = checked(in_.take(number_bits));
    if (layout_.how != value_code::symmetric)
      return numbers;
    if (std::signbit(numbers[0]) || std::signbit(numbers[1]))
      throw bad_packet(
          fmt::format("packet of codec chunked-top-k has the magnitudes {} and {}", numbers[0], numbers[1]));
    return {numbers[0], numbers[1], -numbers[0], -numbers[1]};
  }

  static float checked(std::uint64_t bits) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x))
      throw bad_packet("packet of codec chunked-top-k holds a value that is not finite");
    return x;
  }

  chunk_layout layout_;
  bit_reader in_;
};

struct chunk_sizes {
  chunk_layout layout;
  std::uint64_t chunk, kept;     ///< elements, and how many of them are sent
  std::uint64_t last, last_kept; ///< of the one behind the whole ones; may be 0
};

/// Reads the sizes of a packet, before anything is allocated.
chunk_sizes sizes_of(const packet& p) {
  expect_recipe(p, 2);
  const auto chunk = p.recipe[0], kept = p.recipe[1];
  if (p.parameter > 2 || p.elements > packet_most_elements || chunk == 0 || chunk > longest_chunk || kept == 0
      || kept > chunk)
    throw bad_packet(fmt::format("packet of codec chunked-top-k has parameter {}, {} elements, chunks of {} and {} of "
                                 "each; allowed: 0 to 2, up to {}, 1 to {}, 1 to all",
                                 p.parameter, p.elements, chunk, kept, packet_most_elements, longest_chunk));
  const chunk_layout layout{static_cast<value_code>(p.parameter)};
  const auto last = p.elements % chunk, whole = p.elements / chunk * layout.size_in_bits(chunk, kept);
  const auto fixed = whole + layout.size_in_bits(last, 0);
  const auto last_kept = last == 0 || p.bits < fixed ? 0 : (p.bits - fixed) / layout.each(last);
  if (last_kept > last || (last > 0 && last_kept == 0))
    throw bad_packet(fmt::format("packet of codec chunked-top-k has {} of the last {} elements; allowed: 1 to all",
                                 last_kept, last));
  expect_bits(p, whole + layout.size_in_bits(last, last_kept));
  return {layout, chunk, kept, last, last_kept};
}

vec decode_chunked_top_k(const packet& p) {
  const auto sizes = sizes_of(p);
  auto pool = p.payload.pool();
  vec v{pool, p.elements};
  auto rest = v.overwrite();
  chunk_decoder decode_chunk{sizes.layout, p};
  for (; rest.size() >= sizes.chunk; rest = rest.subspan(sizes.chunk))
    decode_chunk(rest.first(sizes.chunk), sizes.kept);
  if (!rest.empty())
    decode_chunk(rest, sizes.last_kept);
  return v;
}

class chunked_top_k final : public codec {
public:
  chunked_top_k(std::uint64_t chunk, kept_count kept, value_code how) : chunk_(chunk), kept_(kept), layout_{how} {}

  capabilities can() const override { return {.deterministic = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    const auto size = bits(v.size());
    packet p{.codec = chunked_top_k_wire_number,
             .parameter = static_cast<std::uint8_t>(layout_.how),
             .elements = v.size(),
             .bits = size,
             .payload = v.pool().allocate(whole_bytes(size)),
             .recipe = {chunk_, kept_.of(chunk_)}};
    bit_writer out{{p.payload.data(), p.payload.size()}};
    chunk_encoder encode_chunk{layout_, out};
    for (auto rest = v.view(); !rest.empty(); rest = rest.subspan(std::min<std::size_t>(chunk_, rest.size()))) {
      const auto chunk = rest.first(std::min<std::size_t>(chunk_, rest.size()));
      if (!encode_chunk(chunk, largest(v.pool(), chunk, kept_.of(chunk.size()))))
        finite_max_magnitude(v.view()); // names the first that is not finite
    }
    out.finish();
    return p;
  }

  std::uint64_t bits(std::size_t elements) const override {
    const auto last = elements % chunk_;
    return elements / chunk_ * layout_.size_in_bits(chunk_, kept_.of(chunk_))
           + layout_.size_in_bits(last, kept_.of(last));
  }

  double relative_error(std::size_t elements) const override {
    const auto last = elements % chunk_;
    return std::max(elements < chunk_ ? 0 : error_of_chunk(chunk_), last == 0 ? 0 : error_of_chunk(last));
  }

private:
  /// Let v_1 >= ... >= v_k be the magnitudes that are kept, S_j the sum of the first j, and B the largest S_j^2 / j.
  /// Their best split captures no less than B: S_j^2 / j of the first j, and more of the others. Then v_j <= S_j / j
  /// <= sqrt(B / j), so that all m elements have |v|^2 <= B (1 + 1/2 + ... + 1/k) + (m - k) B / k.
  double error_of_chunk(std::size_t elements) const {
    const auto m = static_cast<double>(elements), k = static_cast<double>(kept_.of(elements));
    if (layout_.how == value_code::as_float)
      return 1 - k / m;
    if (layout_.how == value_code::statistical)
      return 1; // what two values of opposite sign come to
    double harmonic = 0;
    for (double j = k; j > 0; --j)
      harmonic += 1 / j;
    return 1 - 1 / (harmonic + m / k - 1);
  }

  std::uint64_t chunk_;
  kept_count kept_;
  chunk_layout layout_;
};

std::vector<parameter> chunk_parameters() {
  auto all = kept_count::parameters("0.015625");
  all.insert(all.begin(), {.key = "chunk",
                           .kind = parameter::type::integer,
                           .fallback = "4096",
                           .meaning = "elements of a chunk, of which a share or k is kept",
                           .min = 1,
                           .max = static_cast<double>(longest_chunk)});
  all.push_back({.key = "values",
                 .kind = parameter::type::choice,
                 .fallback = "symmetric",
                 .meaning = "sign and one of two magnitudes; one of four means, as released; or floats",
                 .choices = {"symmetric", "statistical", "float"}});
  return all;
}

value_code value_code_of(const arguments& given) {
  return given.is("values", "float")       ? value_code::as_float
         : given.is("values", "symmetric") ? value_code::symmetric
                                           : value_code::statistical;
}

constexpr auto chunked_top_k_maths =
    R"(Of each chunk of m elements (the last has what is left), the k largest |v_i| are sent, those of lower index first
among equals; all others become 0. k = min(m, max(1, floor(fraction m + 1/2))) unless it is given.
values=symmetric: sign(v_i) and one of two magnitudes, the means of the |v_i| below and from T on; T is so chosen that
|C(v) - v|^2 is least, hence at most (1 - 1 / (1 + 1/2 + ... + 1/k + m/k - 1)) |v|^2.
values=statistical, as released: with their mean a and deviation s (of k - 1), code min(3, max(0, round(2 + (v_i - a) /
(1.5 s)))), which stands for the mean of the v_i that have it. |C(v) - v|^2 <= |v|^2: of -1 and 1 nothing is left.
values=float: v_i itself, |C(v) - v|^2 <= (1 - k/m) |v|^2.)";

} // namespace

codec_entry chunked_top_k_codec() {
  return {
      .about = {.name = "chunked-top-k",
                .summary = "sends the k elements of largest magnitude of each chunk, in two bits each",
                .maths = chunked_top_k_maths,
                .reference = "Sarfi, Thérien, Lidin, Belilovsky: Communication efficient LLM pre-training with "
                             "SparseLoCo, 2025; Peng, Quesnelle, Kingma: DeMo: Decoupled momentum optimization, 2024",
                .cost = "64 + k (2 + ceil(log2 m)) bits a chunk, 128 + ... with values=statistical, k (32 + ceil(log2 "
                        "m)) with float; two passes over v, and a selection in each chunk",
                .parameters = chunk_parameters()},
      .wire_number = chunked_top_k_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<chunked_top_k>(static_cast<std::uint64_t>(given.integer("chunk")), kept_count{given},
                                               value_code_of(given));
      },
      .decode = decode_chunked_top_k,
      .examples = {"chunked-top-k:chunk=10,k=3", "chunked-top-k:chunk=10,k=3,values=statistical",
                   "chunked-top-k:chunk=10,k=3,values=float"},
  };
}

} // namespace gossamer::compress::detail
