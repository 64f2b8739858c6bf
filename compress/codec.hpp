#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/packet.hpp"

#include <memory>

namespace gossamer::compress {

/// Turns a float vector into a packet and back. `C(v)` below is `decode(encode(v))`.
///
/// A codec is immutable; all randomness comes from the stream and step that are passed in, so that
/// the same call gives the same bytes on every machine. Threads: safe.
class codec {
public:
  virtual ~codec() = default;

  /// @param random, step the random numbers of this call: word i of `step` belongs to element i
  /// @error errc::diverged when v holds NaN or infinity
  virtual packet encode(const vec& v, const random_stream& random, std::uint64_t step) const = 0;

  /// C(v), in memory from the packet's pool.
  /// @error errc::bad_packet when the packet was made by another codec or its payload contradicts
  /// its header
  virtual vec decode(const packet& p) const = 0;

  /// Payload bits of one encoded vector of this size (an upper bound where the size depends on the
  /// values).
  virtual std::uint64_t bits(std::size_t elements) const = 0;
};

/// What theory may assume of a codec; the law tests check each claim.
struct capabilities {
  bool exact = false;     ///< C(v) == v bit for bit
  bool unbiased = false;  ///< E C(v) = v
  bool fixed_size = true; ///< the packet has exactly `bits(size)` bits unless v = 0
};

struct codec_entry {
  description about;
  std::uint8_t wire_number; ///< never reused
  capabilities can;
  std::unique_ptr<codec> (*make)(const arguments&);
  vec (*decode)(const packet&); ///< for any parameters: a packet says all that its decoding needs
};

/// All codecs. Adding one: a file with its `codec_entry` and one line in registry.cpp.
const registry<codec_entry>& codecs();

/// The codec that a user names, e.g. "uniform:bits=8".
std::unique_ptr<codec> make_codec(std::string_view text);

/// Decodes with whichever codec made the packet, whatever its parameters.
/// @error errc::bad_packet when no codec has the packet's number or the payload contradicts the
/// header
vec decode(const packet& p);

} // namespace gossamer::compress
