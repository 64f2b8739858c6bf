#include "gossamer/compress/detail/level_stream.hpp"

#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/elias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace gossamer::compress::detail {
namespace {

std::uint64_t magnitude_of(std::int16_t level) noexcept { return static_cast<std::uint64_t>(std::abs(level)); }

/// Calls `action(distance, level)` for the levels that are not 0.
template <class Action>
void for_each_distance(std::span<const std::int16_t> levels, Action action) {
  std::size_t end = 0; // behind the level before
  for (std::size_t first = 0; first < levels.size(); first += 64) {
    const auto block = levels.subspan(first, std::min<std::size_t>(64, levels.size() - first));
    std::uint64_t left = 0; // a bit for each level that is not 0: a branch for each would be hard to predict
    for (std::size_t i = 0; i < block.size(); ++i)
      left |= std::uint64_t{block[i] != 0} << i;
    for (; left != 0; left &= left - 1) {
      const auto place = first + static_cast<std::size_t>(std::countr_zero(left));
      action(place + 1 - end, levels[place]);
      end = place + 1;
    }
  }
}

/// The codes of levels -128 .. 127 in a dense stream, each at its lower byte.
constexpr auto dense_codes = [] {
  std::array<elias::detail::short_code, 256> codes{};
  for (int level = -128; level < 128; ++level) {
    auto& [bits, length] = codes[static_cast<std::uint8_t>(level)];
    const auto number = elias::detail::omega_of(static_cast<std::uint64_t>(level < 0 ? -level : level) + 1);
    bits = static_cast<std::uint16_t>(number.bits | (level < 0 ? 1 : 0) << number.length);
    length = static_cast<std::uint16_t>(number.length + (level == 0 ? 0 : 1));
  }
  return codes;
}();

bool has_dense_code(std::int16_t level) noexcept { return level == static_cast<std::int8_t>(level); }

/// The most bits that one element adds to the stream. A zero lengthens the omega code of a distance by at most 2 bits.
int most_bits_of(level_coding code, std::uint64_t level) noexcept {
  if (code == level_coding::sparse)
    return level == 0 ? 2 : 2 + elias::omega_bits(level);
  return elias::omega_bits(level + 1) + (level == 0 ? 0 : 1);
}

} // namespace

std::uint64_t level_stream_bits(level_coding code, std::span<const std::int16_t> levels) noexcept {
  std::uint64_t bits = 0;
  if (code == level_coding::sparse)
    for_each_distance(levels, [&](std::uint64_t distance, std::int16_t level) {
      bits += static_cast<std::uint64_t>(elias::omega_bits(distance) + 1 + elias::omega_bits(magnitude_of(level)));
    });
  else
    for (const auto level : levels)
      bits += has_dense_code(level) ? dense_codes[static_cast<std::uint8_t>(level)].length
                                    : static_cast<std::uint64_t>(elias::omega_bits(magnitude_of(level) + 1) + 1);
  return bits;
}

void write_levels(level_coding code, std::span<const std::int16_t> levels, std::span<std::byte> to) noexcept {
  bit_writer out(to);
  if (code == level_coding::sparse) {
    for_each_distance(levels, [&](std::uint64_t distance, std::int16_t level) {
      elias::put_omega(out, distance);
      out.put(level < 0 ? 1 : 0, 1);
      elias::put_omega(out, magnitude_of(level));
    });
  } else {
    for (const auto level : levels)
      if (has_dense_code(level)) {
        const auto [bits, length] = dense_codes[static_cast<std::uint8_t>(level)];
        out.put(bits, length);
      } else {
        elias::put_omega(out, magnitude_of(level) + 1);
        out.put(level < 0 ? 1 : 0, 1);
      }
  }
  out.finish();
}

// Lagrange: for every price of energy, the sum is at most price * energy + elements * max (bits - price * (k - 1)^2).
// The best price makes two levels equally good.
double most_level_bits(level_coding code, std::uint64_t elements, int s, double energy) noexcept {
  struct choice {
    double energy, bits;
  };
  std::vector<choice> choices;
  const auto add = [&](int level) {
    if (level >= 1 && level <= s)
      choices.push_back({static_cast<double>(level - 1) * (level - 1),
                         static_cast<double>(most_bits_of(code, static_cast<std::uint64_t>(level)))});
  };
  for (int power = 1; power <= s; power *= 2) { // powers of two, where the omega codes of k and of k + 1 become longer
    add(power - 1);
    add(power);
  }
  add(s);

  const auto bound = [&](double price) {
    double most = 0;
    for (const auto& c : choices)
      most = std::max(most, c.bits - price * c.energy);
    return price * energy + static_cast<double>(elements) * most;
  };
  double best = bound(0);
  for (const auto& a : choices)
    for (const auto& b : choices)
      if (a.energy < b.energy)
        best = std::min(best, bound((b.bits - a.bits) / (b.energy - a.energy)));
  return best;
}

level_reader::level_reader(level_coding code, bit_reader in, std::uint64_t elements, int s)
    : code_(code), in_(in), elements_(elements), s_(s) {
  if (code_ == level_coding::sparse)
    find_next();
}

std::int16_t level_reader::take_level(std::uint64_t magnitude, bool negative) const {
  if (magnitude > static_cast<std::uint64_t>(s_))
    throw bad_packet(fmt::format("packet holds the level {}; allowed: up to {}", magnitude, s_));
  const auto level = static_cast<std::int16_t>(magnitude);
  return negative ? static_cast<std::int16_t>(-level) : level;
}

/// Requires that `place_` is behind the level before.
void level_reader::find_next() {
  if (in_.left() == 0) {
    place_ = elements_;
    return;
  }
  const auto distance = elias::take_omega(in_);
  if (distance > elements_ - place_)
    throw bad_packet("packet holds a level behind its last element");
  place_ += distance - 1;
  const bool negative = in_.take(1) == 1;
  level_ = take_level(elias::take_omega(in_), negative);
}

void level_reader::read(std::size_t begin, std::size_t count, level_codes& codes) {
  const auto put = [&](std::size_t i, std::int16_t level) {
    std::memcpy(codes.bytes + sizeof level * i, &level, sizeof level);
  };
  std::memset(codes.bytes, 0, sizeof level_ * count);
  if (code_ == level_coding::sparse) {
    for (; place_ < begin + count; find_next())
      put(static_cast<std::size_t>(place_++) - begin, level_);
    return;
  }
  auto in = in_; // the bytes above might be those of `in_`, for all the compiler knows
  for (std::size_t i = 0; i < count; ++i) {
    const auto zeros = std::min(static_cast<std::size_t>(std::countr_zero(in.peek())), count - i); // codes of 0
    in.skip(static_cast<int>(zeros));
    i += zeros;
    if (i == count)
      break;
    const auto magnitude = elias::take_omega(in) - 1;
    put(i, take_level(magnitude, magnitude != 0 && in.take(1) == 1));
  }
  in_ = in;
}

void level_reader::expect_end() const {
  if (in_.left() != 0)
    throw bad_packet(fmt::format("packet has {} bits behind its last level", in_.left()));
}

} // namespace gossamer::compress::detail
