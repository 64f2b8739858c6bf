#pragma once

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/actors/worker/worker.hpp"
#include "gossamer/compress/sign_bits.hpp"

#include <optional>
#include <vector>

namespace gossamer::actors {

/// The signs of a vector in one bit an element. Segments begin at multiples of 64 elements, which share a word.
class packed_signs {
public:
  /// Signs of this many elements, all -1.
  explicit packed_signs(std::size_t size = 0) : size_(size), words_(compress::sign_words(size)) {}

  std::span<std::uint64_t> of(segment s) {
    return std::span{words_}.subspan(s.begin / 64, compress::sign_words(s.size));
  }
  std::span<const std::uint64_t> of(segment s) const {
    return std::span{words_}.subspan(s.begin / 64, compress::sign_words(s.size));
  }
  packet encode(segment s, buffer_pool pool) { return compress::sign_packet(pool, of(s), s.size); }
  /// @error errc::bad_packet unless these are the signs of as many elements
  void decode(segment s, const packet& p) { compress::read_signs(p, s.size, of(s)); }

  /// +1 or -1, decoded on the side that adds them to something.
  vec values(const worker& w, buffer_pool pool) const {
    return w.decode(compress::sign_packet(pool, words_, size_), size_);
  }

private:
  std::size_t size_;
  std::vector<std::uint64_t> words_;
};

/// The signs of a worker's own vector, packed segment by segment as they are needed. A vector on another device is
/// packed there at once. Alternatively, signs that are packed already.
class own_signs {
public:
  /// @error errc::diverged if v is on another device and holds NaN or infinity
  own_signs(const worker& w, const vec& v);
  /// @param signs one bit an element: of codec `sign`, or of `ssdm` without norms
  explicit own_signs(packet signs);

  std::size_t size() const { return size_; }
  buffer_pool pool() const { return pool_; }
  /// @param words those of the segment
  /// @error errc::diverged if the segment holds NaN or infinity
  void pack(segment s, std::span<std::uint64_t> words) const;

private:
  std::size_t size_;
  buffer_pool pool_;
  vec v_; ///< the vector, unless `packed_` is set
  std::optional<packed_signs> packed_;
};

} // namespace gossamer::actors
