#pragma once

#include "gossamer/actors/fetch/catalogue.hpp"

#include <functional>
#include <optional>
#include <set>

namespace gossamer::actors {

/// Files of this machine, as others ask for them. Threads: one.
class served_files {
public:
  /// @param find says which they are, when somebody asks for the first time
  explicit served_files(std::function<compute::data_files()> find) : find_(std::move(find)) {}

  /// Reads a few MiB more of them, so that whoever does it can look after other things meanwhile.
  /// @returns the catalogue, once all have been read; null before
  /// @error as `find`; errc::io when one cannot be read, is no regular file, or is larger than `most_file_bytes`
  const file_catalogue* look_on();

  /// @error errc::bad_packet when there is no such piece; errc::io when it cannot be read, or has changed since
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

/// Bounds what a peer is sent and has not read, which waits in this process's memory: a small question asks for a large
/// answer. Each piece brings a receipt, a number that nobody guesses, and a peer that shows one has read it.
class unreceived {
public:
  static constexpr std::size_t most = 64; ///< pieces: 4 MiB

  /// @param shown  the receipt in its question
  /// @param drawn  at random, not 0: for the answer
  /// @returns whether it may be answered
  bool admit(std::uint64_t shown, std::uint64_t drawn);

private:
  std::set<std::uint64_t> under_way_;
};

} // namespace gossamer::actors
