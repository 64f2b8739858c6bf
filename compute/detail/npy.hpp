#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::compute::detail {

/// The description of an array at the start of a .npy file.
struct npy_header {
  char kind = 'f';                           ///< f: floats, i and u: integers, b: truth values; little-endian
  std::size_t element_bytes = sizeof(float); ///< 4 or 8 for floats, 1 to 8 for integers
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// Returns the bytes before the elements, of version 1.0: a multiple of 64.
std::string npy_prefix(const std::vector<std::size_t>& shape);

constexpr std::size_t npy_start_bytes = 12; ///< bytes that suffice to tell the length of the header

/// Returns the number of bytes before the elements, as the first of them say; at most 64 KiB.
/// @param start at least `npy_start_bytes`
/// @error errc::bad_data in words that follow "array 'x': "
std::size_t npy_prefix_bytes(std::string_view start);

/// @param prefix all bytes before the elements
/// @error errc::bad_data in words that follow "array 'x': "
npy_header parse_npy_prefix(std::string_view prefix);

/// Returns the number of elements. @returns more than `most` when there are more, however many
std::uint64_t element_count(const std::vector<std::size_t>& shape, std::uint64_t most);

/// "(2, 3)", "(5,)", "()", as Python writes tuples.
std::string tuple_text(const std::vector<std::size_t>& shape);

} // namespace gossamer::compute::detail
