#include "gossamer/actors/fetch/piece_tree.hpp"

#include "gossamer/base/error.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

std::uint64_t pieces_in(std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, (bytes + piece_bytes - 1) / piece_bytes);
}

} // namespace

piece_tree::piece_tree(std::uint64_t bytes) : bytes_{bytes} {
  GOSSAMER_ASSERT(bytes <= most_file_bytes, "the size of a file has been checked");
  while (pieces_in(bytes_.back()) > 1)
    bytes_.push_back(pieces_in(bytes_.back()) * digest::size);
}

std::uint64_t piece_tree::pieces(std::uint32_t level) const { return pieces_in(bytes(level)); }

std::uint64_t piece_tree::bytes_of(std::uint32_t level, std::uint64_t index) const {
  return has(level, index) ? std::min(piece_bytes, bytes(level) - index * piece_bytes) : 0;
}

void hashed_file::add(std::string_view piece) {
  GOSSAMER_ASSERT(size_ % piece_bytes == 0 && piece.size() <= piece_bytes, "pieces are whole, but for the last");
  size_ += piece.size();
  all_.add(piece);
  levels_[0] += digest_of(piece).raw();
}

void hashed_file::finish() {
  whole_ = all_.finish();
  if (size_ == 0)
    levels_[0] += digest_of({}).raw();
  while (levels_.back().size() > digest::size) {
    const std::string_view below = levels_.back();
    std::string above;
    for (std::uint64_t at = 0; at < below.size(); at += piece_bytes)
      above += digest_of(below.substr(at, piece_bytes)).raw();
    levels_.push_back(std::move(above));
  }
  root_ = digest::from(levels_.back()).value(); // the digest of the level below, which is one piece
}

std::string_view hashed_file::piece(std::uint32_t level, std::uint64_t index) const {
  return std::string_view{levels_.at(level - 1)}.substr(index * piece_bytes, piece_bytes);
}

} // namespace gossamer::actors
