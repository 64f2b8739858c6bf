#pragma once

#include "gossamer/actors/fetch/digest.hpp"
#include "gossamer/actors/protocol/files.hpp"

#include <cstdint>
#include <vector>

namespace gossamer::actors {

// A file travels in pieces of 64 KiB. The digests of its pieces, one behind the other, are bytes again, and are cut
// into pieces in turn, until one piece is left: its digest is the root of the file. A node that knows the root can
// check each piece by itself, from any source, if it asks for the levels from the top down (Merkle, "A digital
// signature based on a conventional encryption function", 1987; here with 2048 branches, so that all levels above the
// file's own are less than a 2000th of it).

inline constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 16;
inline constexpr std::uint64_t digests_in_piece = piece_bytes / digest::size;
inline constexpr std::uint64_t most_file_bytes = piece_bytes * digests_in_piece * digests_in_piece; ///< 256 GiB

/// The number of pieces of a file of some size, and their lengths. An empty file has one piece without bytes.
class piece_tree {
public:
  /// @param bytes at most `most_file_bytes`
  explicit piece_tree(std::uint64_t bytes);

  std::uint32_t levels() const noexcept { return static_cast<std::uint32_t>(bytes_.size()); }
  std::uint64_t bytes(std::uint32_t level) const { return bytes_.at(level); }
  std::uint64_t pieces(std::uint32_t level) const;
  /// 0 if there is no such piece.
  std::uint64_t bytes_of(std::uint32_t level, std::uint64_t index) const;
  bool has(std::uint32_t level, std::uint64_t index) const { return level < levels() && index < pieces(level); }

private:
  std::vector<std::uint64_t> bytes_; // by level
};

/// The digests of a file. The levels above its own are kept, since peers ask for them.
class hashed_file {
public:
  /// Adds the next bytes. All but the last piece must be whole.
  void add(std::string_view piece);
  void finish();

  std::uint64_t size() const noexcept { return size_; }
  const digest& whole() const noexcept { return whole_; }
  const digest& root() const noexcept { return root_; }
  /// A piece of a level above the file's own; requires that it exists.
  std::string_view piece(std::uint32_t level, std::uint64_t index) const;
  /// The digest of a piece of the file itself; requires that it exists.
  std::string_view digest_of_piece(std::uint64_t index) const {
    return std::string_view{levels_[0]}.substr(index * digest::size, digest::size);
  }

private:
  std::uint64_t size_ = 0;
  hasher all_;
  digest whole_, root_;
  std::vector<std::string> levels_{std::string{}}; // from level 1 on
};

} // namespace gossamer::actors
