#pragma once

#include "gossamer/actors/frames/frame.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// The state that a worker or master needs to go on as if nothing had happened.
struct saved_worker {
  std::uint64_t checkpoint = 0; ///< number of the checkpoint
  rank who = 0;
  std::uint32_t incarnation = 0, random_life = 0; ///< as in worker_place
  std::uint64_t gradients = 0;                    ///< of this worker so far
  traffic sent;                                   ///< by this worker so far
  std::vector<std::byte> state;                   ///< hosted_worker::state
};

/// The account of a part that is safe, for nodes other than its own.
struct part_account {
  std::uint64_t digest = 0;    ///< XXH3 of the file
  std::uint64_t gradients = 0; ///< as in saved_worker
  traffic sent = {};
};

/// The list of parts that makes a checkpoint of them. Written last: if a manifest exists, all its parts are safe.
struct manifest {
  std::uint64_t checkpoint = 0;            ///< the next step, or a number if asynchronous
  std::uint64_t workers = 0, masters = 0;  ///< of the run
  double steps = 0;                        ///< of each worker so far; on average if asynchronous
  double time_s = 0;                       ///< since the run began
  std::uint64_t samples = 0;               ///< in the minibatches of all updates
  std::uint64_t former_gradients = 0;      ///< of incarnations that were over
  traffic former_sent = {};                ///< by incarnations that were over
  std::map<rank, part_account> parts = {}; ///< of the workers and masters that were there

  static constexpr double most_steps = 1e15;
  /// False for a number of steps that no run reaches: a manifest from elsewhere may have any.
  bool has_possible_steps() const noexcept { return steps >= 0 && steps <= most_steps; }
  /// Updates of all workers.
  std::uint64_t updates() const {
    auto total = former_gradients;
    for (const auto& [who, part] : parts)
      total += part.gradients;
    return total;
  }
};

/// The bytes of a file: a magic number, a version, the fields, and an XXH3 over all, so that torn, cut or changed files
/// are noticed.
std::vector<std::byte> write(const saved_worker& s);
std::vector<std::byte> write(const manifest& m);
/// @param source named in messages @error errc::bad_data if the bytes are not the output of `write`
saved_worker read_saved_worker(std::span<const std::byte> bytes, const std::string& source);
manifest read_manifest(std::span<const std::byte> bytes, const std::string& source);
/// The digest in a `part_account`.
std::uint64_t digest_of(std::span<const std::byte> part);

/// A process's knowledge of the checkpoint that a run goes on from.
struct resumption {
  std::string folder; ///< that holds the run's checkpoints
  manifest all;
  std::map<rank, saved_worker> parts; ///< read by this process: the parts of its own workers at least
};

} // namespace gossamer::actors
