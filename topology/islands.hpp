#pragma once

#include "gossamer/topology/graph.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::topology {

/// Groups of workers with fast links between them: those of a machine, or of a local network. Ranks of an island follow
/// each other; ranks beyond those of the start join the islands in turn. Immutable. Threads: safe.
class islands {
public:
  /// No islands: each worker is one of its own.
  islands() = default;
  /// @param sizes of the islands in the order of ranks, each at least 1
  explicit islands(std::span<const std::size_t> sizes);

  /// Number of islands; 0 if each worker is one of its own.
  std::size_t count() const noexcept { return ends_.size(); }
  /// The island of a rank; the rank itself if each worker is an island of its own. O(log count).
  std::size_t of(rank i) const noexcept;
  /// The first member of each island that has one; all of them if each worker is an island of its own. O(members).
  /// @param members ascending
  std::vector<rank> heads(std::span<const rank> members) const;
  /// True if some island has more than one worker.
  bool are_shared() const noexcept { return !ends_.empty() && ends_.back() > ends_.size(); }

private:
  std::vector<std::size_t> ends_; // of each island, the rank behind its last
};

/// Shares of `workers` that differ by one at most. Requires a count from 1 to `workers`.
std::vector<std::size_t> even_sizes(std::size_t workers, std::size_t count);

/// Reads "3", a number of islands, whose sizes differ by one at most, or "4,4,2", the size of each.
/// @param workers of the whole run
/// @error errc::usage on a text of another form, or sizes that do not make `workers`
islands parse_islands(std::string_view text, std::size_t workers);
/// The text that `parse_islands` reads as these islands.
/// @param of the island of each worker, by rank; workers of an island follow each other
std::string islands_text(std::span<const std::size_t> of);

} // namespace gossamer::topology
