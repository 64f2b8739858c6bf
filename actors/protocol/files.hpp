#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace gossamer::actors {

// Messages between a node that lacks the files of a run and a node that has them.

/// Names a piece of a file. Level 0 is the file itself.
struct piece_id {
  std::uint32_t file = 0;
  std::uint32_t level = 0;
  std::uint64_t index = 0;

  friend auto operator<=>(const piece_id&, const piece_id&) = default;
};

/// newcomer -> node with the files; answered by `file_catalogue`, or by `no_files`
struct catalogue_request {};

/// One file. It has no path: the receiver finds its own.
struct shared_file {
  std::string role; ///< its part in the run, as `files_of` names it
  std::uint64_t bytes = 0;
  std::string whole; ///< SHA-256 of it, 32 bytes
  std::string root;  ///< root of its tree (piece_tree.hpp), 32 bytes
};

struct file_catalogue {
  std::vector<shared_file> files;
};

/// newcomer -> node with the files; answered by `piece`, or by `no_files`
struct piece_request {
  piece_id what;
  std::uint64_t receipt = 0; ///< receipt of a piece that has come; 0: none has (`unreceived`)
};

struct piece {
  piece_id what;
  std::uint64_t receipt = 0;
  std::string bytes;
};

struct no_files {
  std::string why;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, catalogue_request&) {
  return f();
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, shared_file& m) {
  return f(m.role, m.bytes, m.whole, m.root);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, file_catalogue& m) {
  return f(m.files);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, piece_id& m) {
  return f(m.file, m.level, m.index);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, piece_request& m) {
  return f(m.what, m.receipt);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, piece& m) {
  return f(m.what, m.receipt, m.bytes);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, no_files& m) {
  return f(m.why);
}

} // namespace gossamer::actors
