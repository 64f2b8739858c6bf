#pragma once

#include "gossamer/base/error.hpp"

#include <libdeflate.h>
#include <memory>
#include <string>
#include <string_view>

namespace gossamer::test {

/// Returns the bytes as a gzip file.
inline std::string gzipped(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> with{
      libdeflate_alloc_compressor(6), libdeflate_free_compressor};
  std::string packed(libdeflate_gzip_compress_bound(with.get(), bytes.size()), '\0');
  packed.resize(libdeflate_gzip_compress(with.get(), bytes.data(), bytes.size(), packed.data(), packed.size()));
  GOSSAMER_ASSERT(!packed.empty(), "the packed bytes have room");
  return packed;
}

} // namespace gossamer::test
