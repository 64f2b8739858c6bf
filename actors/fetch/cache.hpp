#pragma once

#include "gossamer/actors/fetch/piece_tree.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace gossamer::actors {

/// Reads a file to its end, a little at a time, so that whoever does it can look after other things meanwhile.
class file_check {
public:
  explicit file_check(const std::filesystem::path& file);

  /// A few MiB more. @returns the digest of the whole, at the end; that of what could be read, when it cannot be read
  std::optional<digest> step();

private:
  std::ifstream in_;
  hasher all_;
};

/// A file of the cache that is not whole yet. No other process has it open as one, as long as this lives. When it is
/// not kept, it stays as it is, and another attempt goes on with it.
class partial_file {
public:
  /// @param file its descriptor, which is locked
  partial_file(int file, std::filesystem::path path, std::filesystem::path final_path);
  partial_file(const partial_file&) = delete;
  partial_file& operator=(const partial_file&) = delete;
  ~partial_file();

  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t bytes() const; ///< to its end, with what may be missing in between
  /// Fewer bytes where it ends, or cannot be read.
  std::string read(std::uint64_t offset, std::uint64_t bytes) const;
  /// @error errc::io
  void write(std::uint64_t offset, std::string_view bytes) const;
  /// Cuts off what is behind the file's end.
  void resize(std::uint64_t bytes) const;
  /// It is whole, and right: flushes it to the disk, and gives it its name.
  void keep() const;

private:
  int file_;
  std::filesystem::path path_, final_path_;
};

/// A folder of files that are named after their content, the SHA-256 of it: nobody else's names become paths. What is
/// in it may be removed at any time. Several processes may use it; only their user can read it.
class data_cache {
public:
  /// Makes the folder. @error errc::io when that cannot be, or nothing can be written there
  explicit data_cache(std::filesystem::path folder);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::filesystem::path path_of(const digest& whole) const { return folder_ / whole.hex(); }
  /// Whether there is such a file. What it holds may be something else by now.
  bool has(const digest& whole) const;
  /// Forgets a file that is not what its name says.
  void remove(const digest& whole) const;
  /// @returns null while another process has it open
  std::unique_ptr<partial_file> open_partial(const digest& whole) const;
  /// @error errc::io unless the disk has room for so much more
  void require_room(std::uint64_t bytes) const;

private:
  std::filesystem::path folder_;
};

} // namespace gossamer::actors
