#pragma once

#include "gossamer/actors/fetch/catalogue.hpp"

#include <functional>
#include <optional>
#include <set>

namespace gossamer::actors {

/// Files of this machine that peers may ask for. Threads: one.
class served_files {
public:
  /// @param find returns the files; called at the first question
  explicit served_files(std::function<compute::data_files()> find) : find_(std::move(find)) {}

  /// Reads a few MiB more of the files, so that its owner can do other work meanwhile.
  /// @returns the catalogue, once all have been read; null before
  /// @error as `find`; errc::io if one cannot be read, is no regular file, or is larger than `most_file_bytes`
  const file_catalogue* look_on();

  /// @error errc::bad_packet if there is no such piece; errc::io if it cannot be read, or has changed since
  std::string piece_of(const piece_id& what);

private:
  struct served {
    std::string role, path;
    hashed_file known;
  };

  void begin();
  bool read_on(served& one) const;
  void describe();

  std::function<compute::data_files()> find_;
  std::vector<served> files_; // in the order of the catalogue
  std::optional<std::size_t> reading_;
  std::optional<file_catalogue> catalogue_;
};

/// Bounds the bytes that are sent to a peer and not read yet, which wait in this process's memory: a small question
/// asks for a large answer. Each piece brings a receipt, a random number, and a peer that shows a receipt has read its
/// piece.
class unreceived {
public:
  static constexpr std::size_t most = 64; ///< pieces: 4 MiB

  /// @param shown  the receipt in the peer's question
  /// @param drawn  at random, not 0: for the answer
  /// @returns whether the question may be answered
  bool admit(std::uint64_t shown, std::uint64_t drawn);

private:
  std::set<std::uint64_t> under_way_;
};

} // namespace gossamer::actors
