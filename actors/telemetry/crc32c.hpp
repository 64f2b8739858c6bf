#pragma once

#include <cstdint>
#include <string_view>

namespace gossamer::actors {

/// The cyclic redundancy check of Castagnoli (RFC 3720, appendix B.4), as event files of TensorBoard have it; about
/// 0.4 GB/s.
std::uint32_t crc32c(std::string_view bytes) noexcept;

} // namespace gossamer::actors
