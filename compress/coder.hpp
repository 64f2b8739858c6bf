#pragma once

#include "gossamer/compress/codec.hpp"

namespace gossamer::compress {

/// Encodes and decodes vectors where they are. This class uses the processor, and brings elements that are elsewhere to
/// the host first; `cuda::gpu_coder` (compress/cuda/coder.hpp) leaves them on their GPU.
///
/// Threads: safe.
class coder {
public:
  coder() : coder(codecs()) {}
  /// @param known the codecs whose packets it decodes
  explicit coder(const registry<codec_entry>& known) : known_(known) {}
  virtual ~coder() = default;

  /// Returns the bytes of `c.encode`, wherever v is.
  /// @error as `c.encode`
  virtual packet encode(const codec& c, const vec& v, const random_stream& random, std::uint64_t step) const {
    return c.encode(v, random, step);
  }

  /// |v|^2, summed in 64-bit floats, the same bits wherever v is.
  virtual double sum_of_squares(const vec& v) const { return gossamer::sum_of_squares(v.view()); }

  /// Returns v where this coder computes best; vectors that are made of the result are there, too.
  virtual vec place(const vec& v) const { return v; }

  /// C(v), equal as numbers wherever it is computed.
  /// @error errc::bad_packet as `compress::decode`, unless a derived class says otherwise
  virtual vec decode(const packet& p) const { return compress::decode(p, known_); }

  /// Writes C(v) to the memory of the host.
  /// @param to as many elements as the packet has. @error as `compress::decode`
  virtual void decode_into(std::span<float> to, const packet& p) const;

  /// (1/n) (C_1 + ... + C_n), the vectors of n packets, added in their order with one rounding an operation: the same
  /// bits as sums of decoded vectors, in one pass over the packets where their codecs can be read in blocks.
  /// @param packets at least one, all of one size. @error as `decode`
  virtual vec mean(std::span<const packet> packets) const;

  /// Moves the elements that a linear codec keeps out of v: v <- v - C(v), where v is. O(kept), and a copy of v if
  /// shared.
  /// @param kept selection of a vector of this size
  /// @returns C(v) on the elements kept, one after another, in the memory of the host
  virtual vec extract(const selection& kept, vec& v) const;
  /// Adds a * values to y on the elements kept, where y is. O(kept), and a copy of y if shared.
  /// @param values in the memory of the host; value first + k belongs to the k-th element kept
  virtual void scatter_add(vec& y, float a, const vec& values, std::size_t first, const selection& kept) const;

protected:
  const registry<codec_entry>& known() const noexcept { return known_; }
  /// The same as `mean`, packet by packet.
  vec mean_of_decoded(std::span<const packet> packets) const;

private:
  registry<codec_entry> known_;
};

} // namespace gossamer::compress
