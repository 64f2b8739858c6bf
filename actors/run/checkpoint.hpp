#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// What a worker or master needs to go on as if nothing had happened.
struct saved_worker {
  std::uint64_t checkpoint = 0; ///< its number
  rank who = 0;
  std::uint32_t incarnation = 0, random_life = 0; ///< see worker_place
  std::uint64_t gradients = 0;                    ///< of this worker so far,
  traffic sent;                                   ///< and what it has sent
  std::vector<std::byte> state;                   ///< hosted_worker::state
};

/// A part that is safe, as others know of it.
struct part_account {
  std::uint64_t digest = 0;    ///< XXH3 of the file
  std::uint64_t gradients = 0; ///< see saved_worker
  traffic sent = {};
};

/// What makes the parts of all workers and masters a checkpoint. Written last: where it is, all parts are safe.
struct manifest {
  std::uint64_t checkpoint = 0;           ///< the step that comes next, or, of asynchronous runs, a number
  std::uint64_t workers = 0, masters = 0; ///< of the run
  double steps = 0;                       ///< of each worker so far; on average, if asynchronous
  double time_s = 0;                      ///< since the run began
  std::uint64_t former_gradients = 0;     ///< of lives that were over,
  traffic former_sent = {};               ///< and what they had sent
  std::map<rank, part_account> parts;     ///< of those who were there

  static constexpr double most_steps = 1e15;
  /// Whether such a number of steps can be: what is read, or comes from elsewhere, may be any.
  bool has_possible_steps() const noexcept { return steps >= 0 && steps <= most_steps; }
  /// Of all workers.
  std::uint64_t updates() const {
    auto total = former_gradients;
    for (const auto& [who, part] : parts)
      total += part.gradients;
    return total;
  }
};

/// The bytes of a file: a magic number, a version, the fields, and their XXH3, so that whatever is torn, cut or bent is
/// noticed.
std::vector<std::byte> write(const saved_worker& s);
std::vector<std::byte> write(const manifest& m);
/// @param source named in messages @error errc::bad_data when the bytes are not what `write` made
saved_worker read_saved_worker(std::span<const std::byte> bytes, const std::string& source);
manifest read_manifest(std::span<const std::byte> bytes, const std::string& source);
/// As a manifest has it.
std::uint64_t digest_of(std::span<const std::byte> part);

/// What a process knows of the checkpoint that a run goes on from.
struct resumption {
  std::string folder; ///< in which its checkpoints are
  manifest all;
  std::map<rank, saved_worker> parts; ///< that this process has read: those of its own workers at least
};

} // namespace gossamer::actors
