#pragma once

#include "gossamer/compress/codec.hpp"

namespace gossamer::compress {

/// Encodes and decodes vectors by whoever holds them. This one is the processor, which brings elements that are
/// elsewhere to the host first; `cuda::gpu_coder` (compress/cuda/coder.hpp) leaves them on their GPU.
///
/// Threads: safe.
class coder {
public:
  virtual ~coder() = default;

  /// The bytes of `c.encode`, wherever v is.
  /// @error as there
  virtual packet encode(const codec& c, const vec& v, const random_stream& random, std::uint64_t step) const {
    return c.encode(v, random, step);
  }

  /// v where this coder computes best: vectors that are made of it are there, too.
  virtual vec place(const vec& v) const { return v; }

  /// C(v), equal as numbers wherever it is computed.
  /// @error errc::bad_packet as `compress::decode`, where not said otherwise
  virtual vec decode(const packet& p) const { return compress::decode(p); }
};

} // namespace gossamer::compress
