#include "gossamer/compress/sign_sums.hpp"

#include "gossamer/base/work.hpp"
#include "gossamer/compress/bit_stream.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/elias.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

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

void take_fixed(bit_reader& in, std::span<std::uint64_t> words, std::size_t count, std::uint32_t) {
  for (auto& word : words)
    word = in.take(static_cast<int>(count));
}

void take_elias(bit_reader& in, std::span<std::uint64_t> words, std::size_t count, std::uint32_t k) {
  std::ranges::fill(words, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto count_i = count_of(elias::take_gamma(in), k);
    if (count_i < 0 || count_i > k)
      throw impossible_sum(k);
    for (std::size_t j = 0; j < words.size(); ++j)
      words[j] |= (static_cast<std::uint64_t>(count_i) >> j & 1) << i;
  }
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

std::uint64_t sign_sums::above(std::size_t g, std::uint32_t limit) const noexcept {
  std::uint64_t greater = 0, equal = ~std::uint64_t{0};
  for (auto j = width_; j-- > 0;) {
    const auto bits = group(g)[j];
    const auto of_limit = (limit >> j & 1) != 0 ? ~std::uint64_t{0} : 0;
    greater |= equal & bits & ~of_limit;
    equal &= ~(bits ^ of_limit);
  }
  return greater;
}

void sign_sums::majority(std::span<std::uint64_t> signs) const noexcept {
  GOSSAMER_ASSERT(signs.size() == groups(), "64 elements share a word");
  for (std::size_t g = 0; g < signs.size(); ++g)
    signs[g] = above(g, contributors_ - contributors_ / 2 - 1);
}

template <class Action>
void sign_sums::for_each_count(Action action) const {
  for (std::size_t g = 0; g < groups(); ++g) {
    std::array<std::uint32_t, 64> counts{};
    for (std::size_t j = 0; j < width_; ++j)
      for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] |= static_cast<std::uint32_t>(group(g)[j] >> i & 1) << j;
    for (std::size_t i = 0; i < in_group(g); ++i)
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
  bit_writer out{p.payload.bytes()};
  for (std::size_t g = 0; g < groups(); ++g)
    for (std::size_t j = 0; j < width_; ++j)
      out.put(group(g)[j], static_cast<int>(in_group(g)));
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
  bit_reader in{p.payload.bytes(), p.bits};
  const auto take = is_elias(p) ? take_elias : take_fixed;
  for (std::size_t g = 0; g < sums.groups(); ++g) {
    take(in, {sums.group(g), sums.width_}, sums.in_group(g), contributors);
    if (sums.above(g, contributors) != 0)
      throw impossible_sum(contributors);
  }
  if (in.left() > 0)
    throw detail::bad_packet(fmt::format("{} bits follow the last sum of signs", in.left()));
  return sums;
}

} // namespace gossamer::compress
