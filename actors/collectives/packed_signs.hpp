#pragma once

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <vector>

namespace gossamer::actors {

/// The signs of a vector in one bit an element, by segments that begin at multiples of 64 elements: those share a word.
class packed_signs {
public:
  /// Of so many elements, all -1.
  explicit packed_signs(std::size_t size = 0) : words_(compress::sign_words(size)) {}

  std::span<std::uint64_t> of(segment s) {
    return std::span{words_}.subspan(s.begin / 64, compress::sign_words(s.size));
  }
  /// @error errc::diverged when the segment holds NaN or infinity
  void pack(segment s, const vec& v) { compress::pack_signs(s.of(v), of(s)); }
  packet encode(segment s, buffer_pool pool) { return compress::sign_packet(pool, of(s), s.size); }
  /// @error errc::bad_packet when these are not the signs of so many elements
  void decode(segment s, const packet& p) { compress::read_signs(p, s.size, of(s)); }

  /// +magnitude or -magnitude. @param like a vector of this size
  vec times(float magnitude, const vec& like) const {
    vec values = like;
    compress::signs_to_values(words_, magnitude, values.overwrite());
    return values;
  }

private:
  std::vector<std::uint64_t> words_;
};

} // namespace gossamer::actors
