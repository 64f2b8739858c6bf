#pragma once

#include "gossamer/actors/fetch/piece_tree.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace gossamer::actors {

/// Reads a file to its end, a little at a time, so that its owner can do other work meanwhile.
class file_check {
public:
  explicit file_check(const std::filesystem::path& file);

  /// Reads a few MiB more. @returns the digest of the whole, at the end; the digest of the readable part if reading
  /// fails
  std::optional<digest> step();

private:
  std::ifstream in_;
  hasher all_;
};

/// An unfinished file of the cache. No other process has it open as one while this object lives. Unless `keep` is
/// called, it stays as it is, and a later attempt goes on with it.
class partial_file {
public:
  /// @param file its descriptor, which is locked
  partial_file(int file, std::filesystem::path path, std::filesystem::path final_path);
  partial_file(const partial_file&) = delete;
  partial_file& operator=(const partial_file&) = delete;
  ~partial_file();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t bytes() const; ///< to its end, with gaps where bytes are missing
  /// Returns fewer bytes at the end of the file, or if it cannot be read.
  std::string read(std::uint64_t offset, std::uint64_t bytes) const;
  /// @error errc::io
  void write(std::uint64_t offset, std::string_view bytes) const;
  /// Cuts off all bytes behind this size.
  void resize(std::uint64_t bytes) const;
  /// Flushes the file, which is whole and right, to the disk, and gives it its final name.
  void keep() const;

private:
  int file_;
  std::filesystem::path path_, final_path_;
};

/// A folder of files that are named after the SHA-256 of their content: names from peers never become paths. Its files
/// may be removed at any time. Several processes may use it; only their user can read it.
class data_cache {
public:
  /// Makes the folder. @error errc::io if that fails, or the folder is not writable
  explicit data_cache(std::filesystem::path folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::filesystem::path path_of(const digest& whole) const { return folder_ / whole.hex(); }
  /// True if there is such a file. Its content may have changed.
  bool has(const digest& whole) const;
  /// Removes a file whose content does not match its name.
  void remove(const digest& whole) const;
  /// @returns null while another process has it open
  std::unique_ptr<partial_file> open_partial(const digest& whole) const;
  /// @error errc::io unless the disk has room for this many bytes more
  void require_room(std::uint64_t bytes) const;

private:
  std::filesystem::path folder_;
};

} // namespace gossamer::actors
