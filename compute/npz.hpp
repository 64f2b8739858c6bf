#pragma once

#include "gossamer/compute/mapped_allocator.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gossamer::compute {

/// A named array of NumPy: the elements row-major, as many as the product of the sides.
struct named_tensor {
  std::string name;
  std::vector<std::size_t> shape; ///< empty: one number
  large_vector<float> values;

  bool operator==(const named_tensor&) const = default;
};

/// Limits of a file.
struct npz_limits {
  std::uint64_t most_bytes = std::uint64_t{4} << 30; ///< of the file, and of all its arrays together when unpacked
  std::size_t most_arrays = 4096;
};

/// Writes a file for `numpy.load`: a zip archive that holds a file NAME.npy of 32-bit floats for each tensor, not
/// compressed. The same tensors make the same bytes. The file is written beside its place and renamed, so that there is
/// always a whole one, the old or the new.
/// @param tensors at least one; their names differ
/// @error errc::io when the operating system refuses
void write_npz(const std::string& path, std::span<const named_tensor> tensors);

/// Reads files of `numpy.savez` and `numpy.savez_compressed`, in the order of the file: arrays of 32-bit or 64-bit
/// floats, of integers or of truth values, of any shape, in C or in Fortran order, in .npy files of the versions 1.0 to
/// 3.0. A number too large for 32 bits becomes infinite. The file is not trusted: checksums are compared, and an array
/// takes no more room than its packed bytes can fill. The file itself is not held in memory, unless it is a pipe.
/// @param memory where the elements go; by default an array of more than half of the memory goes to a mapped file
/// @error errc::io when the operating system refuses, also to map a file; errc::bad_data for a file that is damaged,
///        beyond the limits, or holds something else, with the name of the array
std::vector<named_tensor> read_npz(const std::string& path, const npz_limits& limits = {},
                                   const mapped_allocator<float>& memory = {});

} // namespace gossamer::compute
