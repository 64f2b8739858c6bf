#include "gossamer/compress/sign_sums.hpp"

#include "gossamer/base/work.hpp"
#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/elias.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace gossamer::compress {
namespace {

bool prefers_elias(sign_sum_code code, std::uint32_t k) {
  return code == sign_sum_code::elias || (code == sign_sum_code::shorter && k >= 4 && k != 7);
}

std::int64_t middle_of(std::uint32_t k) { return k - k / 2; }

/// Counts ranked by their distance from the middle, which is 1: middle, below, above, below, ...
std::uint64_t rank_of(std::uint32_t count, std::uint32_t k) {
  const auto distance = std::int64_t{count} - middle_of(k);
  return static_cast<std::uint64_t>((distance * 2) ^ (distance >> 63)) + 1;
}

/// Returns the count of that rank, which need not lie within 0 .. k.
std::int64_t count_of(std::uint64_t rank, std::uint32_t k) {
  const auto distance = static_cast<std::int64_t>((rank - 1) >> 1) ^ -static_cast<std::int64_t>((rank - 1) & 1);
  return middle_of(k) + distance;
}

error impossible_sum(std::uint32_t k) {
  return detail::bad_packet(fmt::format("packet holds a sum that {} signs cannot have", k));
}

bool is_elias(const packet& p) { return p.parameter == 1; }

void check(const packet& p, std::size_t elements, std::uint32_t contributors) {
  if (p.codec != sign_sums_wire_number || p.parameter > 1)
    throw detail::bad_packet(
        fmt::format("packet of codec {} with parameter {} where sums of signs are expected", p.codec, p.parameter));
  detail::expect_recipe(p, 1);
  if (p.elements != elements)
    throw detail::bad_packet(
        fmt::format("packet of sums of signs has {} elements instead of {}", p.elements, elements));
  if (p.recipe[0] != contributors)
    throw detail::bad_packet(
        fmt::format("packet of sums of signs counts {} workers instead of {}", p.recipe[0], contributors));
  if (is_elias(p) && p.bits < elements)
    throw detail::bad_packet(fmt::format("packet has {} bits for {} sums of signs", p.bits, elements));
  detail::expect_bits(p, is_elias(p) ? p.bits : elements * static_cast<std::uint64_t>(sign_sum_width(contributors)));
}

constexpr std::uint64_t lowest_bits = 0x0101010101010101; // of eight bytes

/// Moves bit i of x < 256 to the lowest bit of byte i.
std::uint64_t spread(std::uint64_t x) {
  const auto bit_of_byte = x * lowest_bits & 0x8040201008040201;
  return (bit_of_byte + 0x7F * lowest_bits) >> 7 & lowest_bits;
}

/// The inverse, from words whose other bits are 0.
std::uint64_t gather(std::uint64_t x) { return x * 0x0102040810204080 >> 56; }

/// Counts of 64 elements, the lower bytes before the upper ones, so that eight bits are moved at once.
struct split_counts {
  std::uint8_t bytes[2][64] = {};

  std::uint32_t operator[](std::size_t i) const { return bytes[0][i] | static_cast<std::uint32_t>(bytes[1][i]) << 8; }
  void set(std::size_t i, std::uint32_t count) {
    bytes[0][i] = static_cast<std::uint8_t>(count);
    bytes[1][i] = static_cast<std::uint8_t>(count >> 8);
  }

  static split_counts of(std::span<const std::uint64_t> words) {
    split_counts counts;
    for (std::size_t i = 0; i < 64; i += 8) {
      std::uint64_t eight[2] = {};
      for (std::size_t j = 0; j < words.size(); ++j)
        eight[j / 8] |= spread(words[j] >> i & 0xFF) << j % 8;
      for (std::size_t half = 0; half < 2; ++half)
        std::memcpy(counts.bytes[half] + i, &eight[half], 8);
    }
    return counts;
  }

  void write(std::span<std::uint64_t> words) const {
    std::ranges::fill(words, 0);
    for (std::size_t i = 0; i < 64; i += 8)
      for (std::size_t j = 0; j < words.size(); ++j) {
        std::uint64_t eight;
        std::memcpy(&eight, bytes[j / 8] + i, 8);
        words[j] |= gather(eight >> j % 8 & lowest_bits) << i;
      }
  }
};

/// Returns the elements of a group, as bits of a word, that count more than `limit`.
std::uint64_t above(std::span<const std::uint64_t> words, std::uint32_t limit) {
  std::uint64_t greater = 0, equal = ~std::uint64_t{0};
  for (auto j = words.size(); j-- > 0;) {
    const auto of_limit = (limit >> j & 1) != 0 ? ~std::uint64_t{0} : 0;
    greater |= equal & words[j] & ~of_limit;
    equal &= ~(words[j] ^ of_limit);
  }
  return greater;
}

void take_elias(bit_reader& in, std::span<std::uint64_t> words, std::size_t count, std::uint32_t k) {
  split_counts counts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto rank = elias::take_gamma(in);
    if (rank > 2 * std::uint64_t{k} + 2) // before arithmetic that would overflow
      throw impossible_sum(k);
    const auto count_i = count_of(rank, k);
    if (count_i < 0 || count_i > k)
      throw impossible_sum(k);
    counts.set(i, static_cast<std::uint32_t>(count_i));
  }
  counts.write(words);
}

} // namespace

int sign_sum_width(std::uint32_t k) noexcept { return static_cast<int>(std::bit_width(k)); }

sign_sums::sign_sums(buffer_pool pool, std::size_t elements, std::uint32_t contributors)
    : size_(elements), contributors_(contributors), width_(static_cast<std::size_t>(sign_sum_width(contributors))),
      words_(pool.allocate(groups() * width_ * sizeof(std::uint64_t))) {
  GOSSAMER_ASSERT(contributors > 0 && contributors <= most_contributors, "sums of signs count 1 to 32767 workers");
  std::ranges::fill(words_.bytes(), std::byte{0});
}

sign_sums::sign_sums(buffer_pool& pool, std::span<const std::uint64_t> signs, std::size_t elements)
    : sign_sums(pool, elements, 1) {
  GOSSAMER_ASSERT(signs.size() == groups(), "64 elements share a word");
  std::ranges::copy(signs, group(0));
}

std::size_t sign_sums::groups() const noexcept { return sign_words(size_); }
std::size_t sign_sums::in_group(std::size_t g) const noexcept { return std::min<std::size_t>(64, size_ - 64 * g); }
std::uint64_t* sign_sums::group(std::size_t g) noexcept {
  return reinterpret_cast<std::uint64_t*>(words_.data()) + g * width_;
}
const std::uint64_t* sign_sums::group(std::size_t g) const noexcept {
  return reinterpret_cast<const std::uint64_t*>(words_.data()) + g * width_;
}

sign_sums& sign_sums::operator+=(const sign_sums& other) {
  GOSSAMER_ASSERT(other.size_ == size_, "sums are added element by element");
  sign_sums total(words_.pool(), size_, contributors_ + other.contributors_);
  count_arithmetic(words_.size() + other.words_.size() + total.words_.size());
  for (std::size_t g = 0; g < groups(); ++g) {
    const auto *a = group(g), *b = other.group(g);
    auto* sum = total.group(g);
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < total.width_; ++j) { // full adders of 64 elements at once
      const auto x = j < width_ ? a[j] : 0, y = j < other.width_ ? b[j] : 0;
      sum[j] = x ^ y ^ carry;
      carry = (x & y) | ((x ^ y) & carry);
    }
  }
  return *this = std::move(total);
}

sign_sums sign_sums::slice(std::size_t begin, std::size_t size) const {
  GOSSAMER_ASSERT(begin % 64 == 0 && begin <= size_ && size <= size_ - begin, "a slice begins with a whole word");
  sign_sums part(words_.pool(), size, contributors_);
  std::copy_n(group(begin / 64), part.groups() * width_, part.group(0));
  if (size % 64 != 0) {
    auto* last = part.group(part.groups() - 1);
    for (std::size_t j = 0; j < width_; ++j)
      last[j] &= (std::uint64_t{1} << size % 64) - 1;
  }
  return part;
}

void sign_sums::replace(std::size_t begin, const sign_sums& part) noexcept {
  GOSSAMER_ASSERT(part.contributors_ == contributors_, "parts of a sum are of the same workers");
  GOSSAMER_ASSERT(begin % 64 == 0 && begin <= size_ && part.size_ <= size_ - begin, "a part begins with a whole word");
  GOSSAMER_ASSERT(part.size_ % 64 == 0 || begin + part.size_ == size_, "a part ends with a whole word");
  std::copy_n(part.group(0), part.groups() * width_, group(begin / 64));
}

std::uint32_t sign_sums::positive(std::size_t i) const noexcept {
  std::uint32_t count = 0;
  for (std::size_t j = 0; j < width_; ++j)
    count |= static_cast<std::uint32_t>(group(i / 64)[j] >> (i % 64) & 1) << j;
  return count;
}

void sign_sums::to_values(float factor, std::span<float> values) const noexcept {
  GOSSAMER_ASSERT(values.size() == size_, "one value an element");
  // 2 c = (2^width - 1) + sum over j of +2^j or -2^j: small integers, which floats add without rounding.
  const auto middle = static_cast<float>((1 << width_) - 1 - static_cast<int>(contributors_));
  for (std::size_t g = 0; g < groups(); ++g) {
    const auto part = values.subspan(64 * g, in_group(g));
    std::ranges::fill(part, middle);
    for (std::size_t j = 0; j < width_; ++j)
      add_signs({group(g) + j, 1}, static_cast<float>(1 << j), part);
    for (float& x : part)
      x *= factor;
  }
}

void sign_sums::majority(std::span<std::uint64_t> signs) const noexcept {
  GOSSAMER_ASSERT(signs.size() == groups(), "64 elements share a word");
  const auto* words = group(0);
  for (std::size_t g = 0; g < signs.size(); ++g, words += width_)
    signs[g] = above({words, width_}, contributors_ - contributors_ / 2 - 1);
}

template <class Action>
void sign_sums::for_each_count(Action action) const {
  for (std::size_t g = 0; g < groups(); ++g) {
    const auto counts = split_counts::of({group(g), width_});
    for (std::size_t i = 0, count = in_group(g); i < count; ++i)
      action(counts[i]);
  }
}

packet sign_sums::encode(sign_sum_code code) const {
  count_encoding(sign_sums_wire_number, size_);
  const auto with = [this](std::uint8_t parameter, std::uint64_t bits) {
    return packet{sign_sums_wire_number, parameter, size_, bits, words_.pool().allocate(whole_bytes(bits)),
                  {contributors_}};
  };
  if (prefers_elias(code, contributors_)) {
    auto p = with(1, elias_bits());
    bit_writer out{p.payload.bytes()};
    for_each_count([&](std::uint32_t count) { elias::put_gamma(out, rank_of(count, contributors_)); });
    out.finish();
    return p;
  }
  auto p = with(0, width_ * size_);
  const auto whole = size_ / 64; // whole groups are sent as they are
  const auto bytes = whole * width_ * sizeof(std::uint64_t);
  std::ranges::copy(words_.bytes().first(bytes), p.payload.data());
  bit_writer out{p.payload.bytes().subspan(bytes)};
  if (size_ % 64 != 0)
    for (std::size_t j = 0; j < width_; ++j)
      out.put(group(whole)[j], static_cast<int>(size_ % 64));
  out.finish();
  return p;
}

std::uint64_t sign_sums::elias_bits() const noexcept {
  std::uint64_t bits = 0;
  for_each_count([&](std::uint32_t count) {
    bits += static_cast<std::uint64_t>(elias::gamma_bits(rank_of(count, contributors_)));
  });
  return bits;
}

sign_sums sign_sums::decode(const packet& p, std::size_t elements, std::uint32_t contributors) {
  check(p, elements, contributors);
  count_decoding(sign_sums_wire_number, elements);
  sign_sums sums(p.payload.pool(), elements, contributors);
  is_elias(p) ? sums.read_elias(p) : sums.read_fixed(p);
  return sums;
}

void sign_sums::read_fixed(const packet& p) {
  const auto whole = size_ / 64; // whole groups are sent as they are
  const auto bytes = whole * width_ * sizeof(std::uint64_t);
  std::ranges::copy(p.payload.bytes().first(bytes), words_.data());
  bit_reader in{p.payload.bytes().subspan(bytes), p.bits - 8 * bytes};
  if (size_ % 64 != 0)
    for (std::size_t j = 0; j < width_; ++j)
      group(whole)[j] = in.take(static_cast<int>(size_ % 64));
  const std::span words{group(0), groups() * width_};
  for (std::size_t first = 0; first < words.size(); first += width_)
    if (above(words.subspan(first, width_), contributors_) != 0)
      throw impossible_sum(contributors_);
}

void sign_sums::read_elias(const packet& p) {
  bit_reader in{p.payload.bytes(), p.bits};
  for (std::size_t g = 0; g < groups(); ++g)
    take_elias(in, {group(g), width_}, in_group(g), contributors_);
  if (in.left() > 0)
    throw detail::bad_packet(fmt::format("{} bits follow the last sum of signs", in.left()));
}

} // namespace gossamer::compress
