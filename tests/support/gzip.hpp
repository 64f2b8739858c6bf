#pragma once

#include "gossamer/base/error.hpp"

#include <string>
#include <string_view>
#include <zlib.h>

namespace gossamer::test {

/// Returns the bytes as a gzip file.
inline std::string gzipped(std::string_view bytes) {
  z_stream z{};
  GOSSAMER_ASSERT(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts");
  std::string input{bytes};
  std::string packed(deflateBound(&z, static_cast<uLong>(input.size())) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(input.data());
  z.avail_in = static_cast<uInt>(input.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  GOSSAMER_ASSERT(deflate(&z, Z_FINISH) == Z_STREAM_END, "the packed bytes have room");
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

} // namespace gossamer::test
