#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/level_stream.hpp"
#include "gossamer/compress/elias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace gossamer::compress::detail {
namespace {

using elias::detail::omega_beginnings;

/// The whole codes with which the bits of an index begin, of a dense stream. None: `bits` is 0.
struct dense_beginning {
  std::uint8_t count = 0, bits = 0;
};
constexpr int dense_bits = 11;
constexpr std::size_t dense_size = std::size_t{1} << dense_bits;
constexpr int most_dense_level = 14;     // of the table: longer codes stand for others
constexpr std::size_t dense_at_once = 8; // levels that are copied at once, a byte each; others of a beginning are 0

struct dense_tables {
  std::array<dense_beginning, dense_size> beginnings{};
  std::array<std::array<std::int8_t, dense_at_once>, dense_size> levels{};
};

constexpr auto dense = [] {
  dense_tables tables;
  for (std::size_t index = 0; index < dense_size; ++index) {
    auto& [count, bits] = tables.beginnings[index];
    for (int used = 0; used < dense_bits;) {
      const auto rest = index >> used;
      const auto [number, length] = omega_beginnings[rest];
      const int whole = length + (number == 1 ? 0 : 1);
      if (length == 0 || used + whole > dense_bits || (number != 1 && count >= dense_at_once))
        break;
      if (number != 1)
        tables.levels[index][count] =
            static_cast<std::int8_t>((rest >> length & 1) != 0 ? 1 - int{number} : int{number} - 1);
      ++count;
      used += whole;
      bits = static_cast<std::uint8_t>(used);
    }
  }
  return tables;
}();

/// The distance, the sign and the magnitude with whose codes the bits of an index begin.
struct sparse_beginning {
  std::uint8_t distance = 0;
  std::int8_t level = 0;
};
constexpr int sparse_bits = 14;
constexpr std::size_t sparse_size = std::size_t{1} << sparse_bits;

/// Lengths are apart, in few lines of the cache: the next code waits for nothing else. None: 0.
struct sparse_tables {
  std::array<std::uint8_t, sparse_size> bits{};
  std::array<sparse_beginning, sparse_size> beginnings{};
};

constexpr auto sparse = [] {
  sparse_tables tables;
  const auto beginning_of = [](std::size_t bits) { return omega_beginnings[bits % omega_beginnings.size()]; };
  for (std::size_t index = 0; index < sparse_size; ++index) {
    const auto distance = beginning_of(index);
    const auto magnitude = beginning_of(index >> (distance.length + 1));
    const int bits = distance.length + 1 + magnitude.length;
    if (distance.length == 0 || magnitude.length == 0 || bits > sparse_bits)
      continue;
    const bool negative = (index >> distance.length & 1) != 0;
    tables.bits[index] = static_cast<std::uint8_t>(bits);
    tables.beginnings[index] = {distance.number,
                                static_cast<std::int8_t>(negative ? -magnitude.number : magnitude.number)};
  }
  return tables;
}();

/// The next bits of a reader in a register. The ones behind them are loaded while these are looked at, because to wait
/// for memory takes longer than to look up a code.
class bit_window {
public:
  explicit bit_window(bit_reader& in) noexcept : in_(in) { open(); }

  /// Begins where the reader is.
  void open() noexcept {
    bits_ = in_.peek();
    ahead_ = in_.peek(64);
    used_ = 0;
  }
  std::uint64_t next(int width) const noexcept { return low_bits(bits_, width); }
  void skip(int width) noexcept {
    bits_ >>= width;
    used_ += width;
  }
  int left() const noexcept { return 64 - used_; }
  /// True unless so many more bits than were skipped are behind the end.
  bool holds(int width) const noexcept { return static_cast<std::uint64_t>(used_ + width) <= in_.left(); }
  /// Moves the reader and fills the register. Requires that fewer than 64 bits were skipped.
  /// @error errc::bad_packet when some of them were behind the end
  void read_on() {
    in_.skip(used_);
    bits_ |= ahead_ << 1 << (63 - used_);
    ahead_ = in_.peek(64);
    used_ = 0;
  }

private:
  bit_reader& in_;
  std::uint64_t bits_ = 0, ahead_ = 0;
  int used_ = 0;
};

} // namespace

level_reader::level_reader(level_coding code, bit_reader in, std::uint64_t elements, int s)
    : code_(code), in_(in), elements_(elements), s_(s) {
  if (code_ == level_coding::sparse)
    find_next();
}

int level_reader::take_level(std::uint64_t magnitude, bool negative) const {
  if (magnitude > static_cast<std::uint64_t>(s_))
    throw bad_packet(fmt::format("packet holds the level {}; allowed: up to {}", magnitude, s_));
  const auto level = static_cast<int>(magnitude);
  return negative ? -level : level;
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

template <class Level>
void level_reader::read_dense(Level* levels, std::size_t count) {
  auto in = in_; // the levels might be those of `in_`, for all the compiler knows
  std::size_t i = 0;
  const auto take_one = [&] {
    const auto number = elias::take_omega(in);
    levels[i++] = static_cast<Level>(number == 1 ? 0 : take_level(number - 1, in.take(1) == 1));
  };
  if constexpr (sizeof(Level) == 1) {
    constexpr std::size_t most_lookups = 5; // as many as 64 bits are enough for
    bit_window window{in};
    while (i + dense_bits <= count) {
      dense_beginning next;
      for (auto lookups = std::min(most_lookups, (count - i) / dense_bits); lookups > 0; --lookups) {
        const auto index = window.next(dense_bits);
        next = dense.beginnings[index];
        std::memcpy(levels + i, dense.levels[index].data(), dense_at_once);
        i += next.count;
        window.skip(next.bits);
      }
      window.read_on();
      if (next.bits == 0) {
        take_one();
        window.open();
      }
    }
  }
  while (i < count)
    take_one();
  in_ = in;
  if (s_ < most_dense_level) // others were looked at one by one
    for (i = 0; i < count; ++i)
      take_level(magnitude_of(levels[i]), false);
}

template <class Level>
void level_reader::read_sparse(std::uint64_t begin, Level* levels, std::size_t count) {
  const auto end = begin + count;
  auto state = *this; // the levels might be those of this reader, for all the compiler knows
  bit_window window{state.in_};
  for (unsigned taken = 1; state.place_ < end; ++taken) {
    levels[state.place_++ - begin] = static_cast<Level>(state.level_);
    const auto index = window.next(sparse_bits);
    const auto bits = sparse.bits[index];
    const auto& next = sparse.beginnings[index];
    if (bits == 0 || next.distance > state.elements_ - state.place_ || std::abs(next.level) > state.s_
        || !window.holds(bits)) {
      window.read_on(); // the end, a long code, or a mistake
      *this = state;
      find_next();
      state = *this;
      window.open();
      taken = 0;
      continue;
    }
    state.place_ += std::uint64_t{next.distance} - 1;
    state.level_ = next.level; // NOLINT(bugprone-signed-char-misuse): a small number, and no character
    window.skip(bits);
    if (taken % (64 / sparse_bits) == 0) // not when few bits are left: that would be hard to predict
      window.read_on();
  }
  window.read_on();
  *this = state;
}

void level_reader::read(std::size_t begin, std::size_t count, level_codes& codes) {
  const auto read_all = [&](auto* levels) {
    std::fill_n(levels, count, 0);
    code_ == level_coding::dense ? read_dense(levels, count) : read_sparse(begin, levels, count);
  };
  if (level_code_bits(s_) == 8)
    read_all(reinterpret_cast<std::int8_t*>(codes.bytes));
  else
    read_all(reinterpret_cast<std::int16_t*>(codes.bytes));
}

void level_reader::expect_end() const {
  if (in_.left() != 0)
    throw bad_packet(fmt::format("packet has {} bits behind its last level", in_.left()));
}

} // namespace gossamer::compress::detail
