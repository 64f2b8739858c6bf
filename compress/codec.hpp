#pragma once

#include "gossamer/base/philox.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/tensor_shape.hpp"
#include "gossamer/base/vec.hpp"
#include "gossamer/compress/packet.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gossamer::compress {

namespace detail {
struct packet_form;
struct packet_contents;
} // namespace detail

/// Properties that theory may assume of a codec; the law tests check each claim.
struct capabilities {
  bool exact = false;             ///< C(v) == v bit for bit
  bool unbiased = false;          ///< E C(v) = v, but for 2^-17 of a level at most with rounding=16
  bool unbiased_in_range = false; ///< E C(v) = v while no element lies beyond the range that the user chose
  bool deterministic = false;     ///< draws no random numbers
  bool fixed_size = true;         ///< the packet has exactly `bits(size)` bits unless v = 0
  /// Keeps some elements as they are, chosen by the random numbers alone: workers with the same numbers keep the same
  /// elements, C(a) + C(b) = C(a + b), and a sum can be formed without decoding. `codec::select` gives the choice.
  bool linear = false;
  /// Encodes whole vectors of the tensors that it was made for, and no parts of them: `encode`, `select`, `bits`,
  /// `most_bits` and `relative_error` throw errc::usage for another size.
  bool whole_vectors = false;
};

/// The elements that a linear codec keeps, C(v)_i = factor * v_i, as ranges in ascending order; all others become 0.
struct selection {
  struct range {
    std::size_t begin, size;
  };
  std::vector<range> ranges;
  float factor = 1;
  /// The choice as packets of these elements express it, so that receivers keep the same elements.
  std::uint8_t parameter = 0;
  std::vector<std::uint64_t> recipe = {};

  std::size_t size() const noexcept;
};

struct codec_entry;

/// Turns a float vector into a packet; `decode` turns it back. `C(v)` below is `decode(encode(v))`.
///
/// A codec is immutable; all randomness comes from the stream and step that are passed in, so that the same call gives
/// the same bytes on every machine. Threads: safe.
class codec {
public:
  virtual ~codec() = default;

  virtual capabilities can() const = 0;

  /// @param random, step the random numbers of this call: word i of `step` belongs to element i
  /// @error errc::diverged when v holds NaN or infinity
  [[nodiscard]] virtual packet encode(const vec& v, const random_stream& random, std::uint64_t step) const = 0;

  /// Payload bits of one encoded vector of this size. Where they depend on the values, an upper bound unless the
  /// vector's norm overflows a float.
  virtual std::uint64_t bits(std::size_t elements) const = 0;

  /// The most payload bits that any vector of this size takes. At least `bits`.
  virtual std::uint64_t most_bits(std::size_t elements) const { return bits(elements); }

  /// The smallest known c with E |C(v) - v|^2 <= c |v|^2 for all v of this size, of normal floats that do not
  /// overflow: omega of an unbiased codec, 1 - delta of a delta-approximate one. Infinite when there is none.
  virtual double relative_error(std::size_t elements) const = 0;

  /// Returns the elements that a linear codec keeps with these random numbers. Requires `can().linear`.
  virtual selection select(std::size_t elements, const random_stream& random, std::uint64_t step) const;

  /// Returns the form of the codec's packets as plain data, for coders that make packets where vectors are. Null if
  /// only `encode` makes them.
  virtual std::shared_ptr<const detail::packet_form> form() const { return nullptr; }

  /// The full spec from which `make_codec` made it, such as "uniform:bits=8"; empty for a codec made otherwise.
  const std::string& spelling() const noexcept { return spelling_; }

private:
  friend std::unique_ptr<codec> make_codec(std::string_view text, std::span<const tensor_shape> tensors,
                                           const registry<codec_entry>& known);

  std::string spelling_;
};

struct codec_entry {
  description about;
  std::uint8_t wire_number; ///< never reused; `first_own_number` to 255 for codecs of other programs
  /// @param tensors shapes of the vectors to come, one after the other; empty: one tensor of any size
  std::unique_ptr<codec> (*make)(const arguments&, std::span<const tensor_shape> tensors);
  vec (*decode)(const packet&); ///< for any parameters: a packet holds all that its decoding needs
  /// Returns the contents of a packet as plain data, for coders that read packets where vectors are. Null, or returns
  /// null, if only `decode` reads it. Checks everything but single values and places. @error errc::bad_packet
  std::shared_ptr<const detail::packet_contents> (*contents)(const packet&) = nullptr;
  /// Specs of this codec that together take every path through it and give every form of its packets. Sources of golden
  /// files, tests with damaged packets, benchmarks and the fuzzers' seeds.
  std::vector<std::string> examples = {};
};

/// All codecs. Adding one: a file with its `codec_entry` and one line in registry.cpp.
const registry<codec_entry>& codecs();

/// The wire numbers below are Gossamer's; programs number their own codecs from here on.
inline constexpr std::uint8_t first_own_number = 128;

/// @error errc::usage when the table lacks a built-in codec, with which algorithms send whatever the user chooses; when
///        two codecs have one wire number; or when a program's own has one of Gossamer's
void check_table(const registry<codec_entry>& known);

/// Returns the codec that a user names, e.g. "uniform:bits=8".
/// @error errc::usage for an unknown name or key, or a value out of its range; says what is allowed, and the nearest
/// name
[[nodiscard]] std::unique_ptr<codec> make_codec(std::string_view text, std::span<const tensor_shape> tensors = {},
                                                const registry<codec_entry>& known = codecs());

/// C(v), in memory from the packet's pool, with whichever codec made the packet.
/// @error errc::bad_packet when no codec has the packet's number or the payload contradicts the header
[[nodiscard]] vec decode(const packet& p, const registry<codec_entry>& known = codecs());

} // namespace gossamer::compress
