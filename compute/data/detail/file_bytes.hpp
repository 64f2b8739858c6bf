#pragma once

#include "gossamer/base/spec.hpp"
#include "gossamer/compute/byte_features.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::compute::detail {

/// A whole file in memory, unpacked when it is gzip (known by its first bytes, not by its name). Memory grows with the
/// bytes that were read or unpacked, never with the claims of a header, and never beyond a limit.
/// Threads: safe once read.
class file_bytes {
public:
  /// @param most_bytes limit of the file, and of its content when unpacked
  /// @error errc::io when the operating system refuses, and for a file that is neither regular nor a pipe;
  ///        errc::bad_data when gzip data are truncated or corrupt, with the byte at which they begin, and for more
  ///        bytes than `most_bytes`
  static file_bytes read(std::string path, std::uint64_t most_bytes);
  /// Returns `folder/name`, or `folder/name.gz` when only that exists.
  static std::string find(const std::string& folder, std::string_view name);
  /// Reads the file that `find` has found. @error also errc::io when it does not exist; `remedy` says what the folder
  /// should hold
  static file_bytes read_found(std::string path, std::uint64_t most_bytes, std::string_view remedy);

  const std::string& path() const noexcept { return path_; }
  std::string_view text() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  std::uint8_t operator[](std::size_t i) const noexcept { return static_cast<std::uint8_t>(bytes_[i]); }
  /// Reads the big-endian number at a byte; requires `offset + 4 <= size()`.
  std::uint32_t big_endian(std::size_t offset) const noexcept;

  /// Throws "'path', byte 3 when unpacked: what".
  /// @error errc::bad_data always
  [[noreturn]] void fail(std::size_t offset, std::string_view what) const;

private:
  std::string path_;
  std::string bytes_;
  bool unpacked_ = false;
};

/// Returns bytes of a file as features, without a copy: the file lives as long as they do.
byte_features features_in(std::shared_ptr<const file_bytes> file, std::size_t first, std::size_t count);

/// The parameter of sources that read files, and its value in bytes.
parameter file_limit_parameter();
std::uint64_t file_limit(const arguments& given);

/// Returns the names of the files in a folder, ascending.
/// @error errc::io when it cannot be listed
std::vector<std::string> file_names(const std::string& folder);

} // namespace gossamer::compute::detail
