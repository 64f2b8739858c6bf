#include "gossamer/compress/detail/level_stream.hpp"

#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/elias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace gossamer::compress::detail {
namespace {

std::uint64_t magnitude_of(std::int16_t level) noexcept { return static_cast<std::uint64_t>(std::abs(level)); }

/// Calls `action(distance, level)` for the levels that are not 0.
template <class Action>
void for_each_distance(std::span<const std::int16_t> levels, Action action) {
  std::uint64_t distance = 0;
  for (const auto level : levels) {
    ++distance;
    if (level != 0)
      action(std::exchange(distance, 0), level);
  }
}

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
      bits += static_cast<std::uint64_t>(elias::omega_bits(magnitude_of(level) + 1) + (level == 0 ? 0 : 1));
  return bits;
}

void write_levels(level_coding code, std::span<const std::int16_t> levels, bit_writer& out) noexcept {
  if (code == level_coding::sparse) {
    for_each_distance(levels, [&](std::uint64_t distance, std::int16_t level) {
      elias::put_omega(out, distance);
      out.put(level < 0 ? 1 : 0, 1);
      elias::put_omega(out, magnitude_of(level));
    });
    return;
  }
  for (const auto level : levels) {
    elias::put_omega(out, magnitude_of(level) + 1);
    if (level != 0)
      out.put(level < 0 ? 1 : 0, 1);
  }
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
  if (code_ == level_coding::sparse) {
    std::memset(codes.bytes, 0, sizeof level_ * count);
    for (; place_ < begin + count; find_next())
      put(static_cast<std::size_t>(place_++) - begin, level_);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto magnitude = elias::take_omega(in_) - 1;
    put(i, take_level(magnitude, magnitude != 0 && in_.take(1) == 1));
  }
}

void level_reader::expect_end() const {
  if (in_.left() != 0)
    throw bad_packet(fmt::format("packet has {} bits behind its last level", in_.left()));
}

} // namespace gossamer::compress::detail
