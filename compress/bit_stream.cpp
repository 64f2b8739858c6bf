#include "gossamer/compress/bit_stream.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/compress/detail/checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gossamer::compress {
namespace {

constexpr std::uint64_t low_bits(std::uint64_t x, int width) noexcept {
  return width == 64 ? x : x & ((std::uint64_t{1} << width) - 1);
}

} // namespace

void bit_writer::store(std::size_t bytes) noexcept {
  GOSSAMER_ASSERT(bytes <= out_.size(), "a bit stream is as long as its writer said");
  std::memcpy(out_.data(), &pending_, bytes);
  out_ = out_.subspan(bytes);
}

void bit_writer::put(std::uint64_t value, int width) noexcept {
  pending_ |= value << count_;
  if (count_ + width < 64) {
    count_ += width;
    return;
  }
  store(sizeof pending_);
  pending_ = count_ == 0 ? 0 : value >> (64 - count_);
  count_ += width - 64;
}

void bit_writer::finish() noexcept {
  if (count_ > 0)
    store(static_cast<std::size_t>(count_ + 7) / 8);
  pending_ = 0;
  count_ = 0;
}

bit_reader::bit_reader(std::span<const std::byte> in, std::uint64_t bits) noexcept : in_(in), end_(bits) {
  GOSSAMER_ASSERT(bits / 8 + (bits % 8 != 0) <= in.size(), "bits lie within their bytes");
}

std::uint64_t bit_reader::peek() const noexcept {
  const auto first = static_cast<std::size_t>(position_ / 8);
  const int shift = static_cast<int>(position_ % 8);
  std::uint64_t low = 0, high = 0;
  if (first + 9 <= in_.size()) {
    std::memcpy(&low, in_.data() + first, 8);
    std::memcpy(&high, in_.data() + first + 8, 1);
  } else {
    const auto rest = in_.subspan(std::min(first, in_.size()));
    std::copy_n(rest.data(), std::min<std::size_t>(8, rest.size()), reinterpret_cast<std::byte*>(&low));
  }
  return shift == 0 ? low : low >> shift | high << (64 - shift);
}

void bit_reader::skip(int width) {
  if (static_cast<std::uint64_t>(width) > left())
    throw detail::bad_packet("a bit stream ends within a number");
  position_ += static_cast<std::uint64_t>(width);
}

std::uint64_t bit_reader::take(int width) {
  const auto next = peek();
  skip(width);
  return low_bits(next, width);
}

int bit_reader::take_zeros() {
  const int zeros = std::countr_zero(peek());
  if (zeros == 64)
    throw detail::bad_packet("a bit stream has more zeros before a number than any code begins with");
  skip(zeros + 1);
  return zeros;
}

} // namespace gossamer::compress
