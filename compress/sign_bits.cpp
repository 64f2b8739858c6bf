#include "gossamer/compress/sign_bits.hpp"

#include "gossamer/base/work.hpp"
#include "gossamer/compress/detail/bernoulli.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gossamer::compress {
namespace {

void clear_padding(std::span<std::uint64_t> words, std::size_t elements) {
  if (elements % 64 != 0)
    words.back() &= (std::uint64_t{1} << elements % 64) - 1;
}

} // namespace

void pack_signs(std::span<const float> v, std::span<std::uint64_t> words) {
  GOSSAMER_ASSERT(words.size() == sign_words(v.size()), "64 elements share a word");
  count_encoding(sign_wire_number, v.size());
  if (!detail::pack_sign_bits(v, std::as_writable_bytes(words).data()))
    detail::finite_max_magnitude(v);
  clear_padding(words, v.size());
}

void add_signs(std::span<const std::uint64_t> words, float magnitude, std::span<float> values) noexcept {
  GOSSAMER_ASSERT(words.size() == sign_words(values.size()), "64 elements share a word");
  count_decoding(sign_wire_number, values.size());
  detail::add_sign_bits(std::as_bytes(words).data(), magnitude, values);
}

void draw_transient(std::span<const std::uint64_t> local, std::uint32_t a, std::uint32_t b, std::size_t elements,
                    const random_stream& random, std::uint64_t step, std::uint64_t first,
                    std::span<std::uint64_t> out) noexcept {
  GOSSAMER_ASSERT(a > 0 && b > 0, "both sides of a merge stand for somebody");
  GOSSAMER_ASSERT(local.size() == sign_words(elements) && out.size() == local.size(), "64 elements share a word");
  std::ranges::copy(local, out.begin());
  clear_padding(out, elements);
  count_drawing(detail::flip_bits(detail::limit_of(a, std::uint64_t{a} + b), random, step, first, elements, out));
}

void merge_signs(std::span<const std::uint64_t> received, std::span<const std::uint64_t> local,
                 std::span<const std::uint64_t> transient, std::span<std::uint64_t> out) noexcept {
  GOSSAMER_ASSERT(received.size() == out.size() && local.size() == out.size() && transient.size() == out.size(),
                  "operands of a merge have equal sizes");
  count_arithmetic(4 * out.size_bytes());
  detail::merge_words(received.data(), local.data(), transient.data(), out.size(), out.data());
}

packet sign_packet(buffer_pool& pool, std::span<const std::uint64_t> words, std::size_t elements) {
  GOSSAMER_ASSERT(words.size() == sign_words(elements), "64 elements share a word");
  packet p{sign_wire_number, 0, elements, elements, pool.allocate(whole_bytes(elements)), {}};
  std::ranges::copy(std::as_bytes(words).first(p.payload.size()), p.payload.data());
  return p;
}

void read_signs(const packet& p, std::size_t elements, std::span<std::uint64_t> words) {
  GOSSAMER_ASSERT(words.size() == sign_words(elements), "64 elements share a word");
  if (p.codec != sign_wire_number)
    throw detail::bad_packet(fmt::format("packet of codec {} where one of codec sign is expected", p.codec));
  detail::expect_elements(p, elements);
  detail::expect_recipe(p, 0);
  detail::expect_bits(p, elements);
  std::ranges::copy(p.payload.bytes(), std::as_writable_bytes(words).data());
  clear_padding(words, elements);
}

} // namespace gossamer::compress
