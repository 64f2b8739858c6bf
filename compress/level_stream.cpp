#include "gossamer/compress/detail/level_stream.hpp"

#include "gossamer/compress/elias.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace gossamer::compress::detail {
namespace {

using elias::detail::short_code;

/// A table of what `code_of(level)` gives for levels -128 .. 127, each at its lower byte.
constexpr auto code_table(short_code (*code_of)(int)) {
  std::array<short_code, 256> codes{};
  for (int level = -128; level < 128; ++level)
    codes[static_cast<std::uint8_t>(level)] = code_of(level);
  return codes;
}

constexpr short_code joined(short_code a, short_code b) {
  return {static_cast<std::uint16_t>(a.bits | b.bits << a.length), static_cast<std::uint16_t>(a.length + b.length)};
}

constexpr short_code omega_of(int n) { return elias::detail::omega_of(static_cast<std::uint64_t>(n)); }
constexpr short_code sign_of(int level) { return {static_cast<std::uint16_t>(level < 0 ? 1 : 0), 1}; }

/// What stands for a level in a dense stream, and behind its distance in a sparse one.
constexpr auto dense_codes = code_table([](int level) {
  const auto number = omega_of((level < 0 ? -level : level) + 1);
  return level == 0 ? number : joined(number, sign_of(level));
});
constexpr auto sparse_codes = code_table(
    [](int level) { return level == 0 ? short_code{} : joined(sign_of(level), omega_of(level < 0 ? -level : level)); });

constexpr std::uint64_t most_short = elias::detail::small - 2; // zeros before a level whose distance is in the table
constexpr std::size_t stream_block = 64;                       // levels
constexpr std::uint64_t few = 16;                              // of them that are not 0 are written one by one

/// The levels of a group that are not 0: a bit for each, because a branch for each would be hard to predict.
struct not_zero {
  std::uint64_t places = 0, count = 0;
};

template <class Level>
not_zero find_not_zero(const Level* levels, std::size_t count) noexcept {
  not_zero found;
  if constexpr (sizeof(Level) == 1)
    if (count == stream_block) {
      constexpr std::uint64_t ones = 0x0101010101010101, low = 0x7F * ones, gather = 0x0102040810204080;
      for (std::size_t i = 0; i < stream_block; i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, levels + i, sizeof eight);
        const auto bytes = ((((eight & low) + low) | eight) & ~low) >> 7; // 1 where a byte is not 0
        found.places |= bytes * gather >> 56 << i;
        found.count += bytes;
      }
      found.count = found.count * ones >> 56;
      return found;
    }
  for (std::size_t i = 0; i < count; ++i) {
    found.places |= std::uint64_t{levels[i] != 0} << i;
    found.count += levels[i] != 0 ? 1 : 0;
  }
  return found;
}

void put_zeros(roomy_bit_writer& out, std::uint64_t count) noexcept {
  for (constexpr std::uint64_t most = 56; count > 0; count -= std::min(count, most))
    out.put(0, static_cast<int>(std::min(count, most)));
}

/// Writes a level that is not 0, and the zeros before it.
template <level_coding code, class Level>
void put_level(roomy_bit_writer& out, std::uint64_t zeros, Level level) noexcept {
  constexpr bool sparse = code == level_coding::sparse;
  if constexpr (sizeof(Level) == 1) { // nearly always all of it at once
    const auto [bits, length] = (sparse ? sparse_codes : dense_codes)[static_cast<std::uint8_t>(level)];
    const auto before = sparse ? elias::detail::short_codes<elias::detail::omega_of>[std::min(zeros, most_short) + 1]
                               : short_code{0, static_cast<std::uint16_t>(zeros)};
    if (zeros <= (sparse ? most_short : 40))
      return out.put(before.bits | std::uint64_t{bits} << before.length, before.length + length);
  }
  if constexpr (sparse)
    elias::put_omega(out, zeros + 1);
  else
    put_zeros(out, zeros);
  const auto sign = sign_of(level);
  if (sparse)
    out.put(sign.bits, sign.length);
  elias::put_omega(out, magnitude_of(level) + (sparse ? 0 : 1));
  if (!sparse)
    out.put(sign.bits, sign.length);
}

/// Writes a group to a dense stream, zeros and others alike: four codes at once, of up to 15 bits each.
void put_dense_group(roomy_bit_writer& out, const std::int8_t* levels) noexcept {
  for (const auto* end = levels + stream_block; levels < end; levels += 4) {
    std::uint64_t bits = 0;
    int length = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const auto code = dense_codes[static_cast<std::uint8_t>(levels[j])];
      bits |= std::uint64_t{code.bits} << length;
      length += code.length;
    }
    const int first = length > 56 ? 32 : 0;
    if (first > 0)
      out.put(low_bits(bits, first), first);
    out.put(bits >> first, length - first);
  }
}

/// @param zeros before these levels that are not written yet
/// @returns the zeros at the end, which are not written yet
template <level_coding code, class Level>
std::uint64_t write_levels(roomy_bit_writer& out, std::uint64_t zeros, const Level* levels,
                           std::size_t count) noexcept {
  for (; count > 0; levels += std::min(stream_block, count), count -= std::min(stream_block, count)) {
    const auto size = std::min(stream_block, count);
    const auto found = find_not_zero(levels, size);
    if constexpr (code == level_coding::dense && sizeof(Level) == 1)
      if (size == stream_block && found.count > few) {
        put_zeros(out, std::exchange(zeros, 0));
        put_dense_group(out, levels);
        continue;
      }
    std::size_t end = 0; // behind the level before
    for (auto left = found.places; left != 0; left &= left - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(left));
      put_level<code>(out, std::exchange(zeros, 0) + place - end, levels[place]);
      end = place + 1;
    }
    zeros += size - end;
  }
  return zeros;
}

/// The most bits that one element adds to the stream. A zero lengthens the omega code of a distance by at most 2 bits.
int most_bits_of(level_coding code, std::uint64_t level) noexcept {
  if (code == level_coding::sparse)
    return level == 0 ? 2 : 2 + elias::omega_bits(level);
  return elias::omega_bits(level + 1) + (level == 0 ? 0 : 1);
}

} // namespace

std::uint64_t level_writer::most_bytes(level_coding code, std::uint64_t elements, int s) noexcept {
  const auto most = static_cast<std::uint64_t>(most_bits_of(code, static_cast<std::uint64_t>(s)));
  return elements * most / 8 + 1 + sizeof(std::uint64_t);
}

void level_writer::write(const level_codes& codes, std::size_t count) noexcept {
  auto out = out_; // the codes might be its bytes, for all the compiler knows
  const auto write_as = [&](const auto* levels) {
    zeros_ = code_ == level_coding::dense ? write_levels<level_coding::dense>(out, zeros_, levels, count)
                                          : write_levels<level_coding::sparse>(out, zeros_, levels, count);
  };
  if (level_code_bits(s_) == 8)
    write_as(reinterpret_cast<const std::int8_t*>(codes.bytes));
  else
    write_as(reinterpret_cast<const std::int16_t*>(codes.bytes));
  out_ = out;
}

std::uint64_t level_writer::finish() noexcept {
  if (code_ == level_coding::dense)
    put_zeros(out_, std::exchange(zeros_, 0));
  return out_.size();
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

} // namespace gossamer::compress::detail
