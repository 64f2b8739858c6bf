#pragma once

#include "gossamer/actors/run/checkpoint.hpp"

#include <functional>

namespace gossamer::actors {

/// The checkpoints of a run on disk, or a process's parts of them: CHECKPOINT/worker-RANK, CHECKPOINT/master-NUMBER and
/// CHECKPOINT/manifest, in one folder for each. Several processes may share it, each with parts of its own.
///
/// A run's folder that was there, and has gone, is not made again: nobody would look for checkpoints of a run in two.
/// Every file is replaced durably. Two complete checkpoints are kept, so that one is left when a disk spoils the other.
/// Threads: one at a time; processes need not know of each other.
class checkpoint_folder {
public:
  explicit checkpoint_folder(std::filesystem::path where);

  const std::filesystem::path& path() const noexcept { return where_; }

  /// @param workers number in the run: higher ranks are masters @returns the part's digest
  /// @error errc::io when the system refuses: the disk is full, the folder is read-only
  std::uint64_t save(const saved_worker& part, std::size_t workers) const;
  /// Writes the manifest of a checkpoint whose parts are all safe. @error errc::io
  void complete(const manifest& m) const;
  /// Removes the parts of a checkpoint that will not be complete.
  void discard(std::uint64_t checkpoint) const;
  /// Removes checkpoints older than `newest`, but for the last complete one. Manifests here say which that is: a later
  /// leader need not know what was complete before.
  void keep_newest(std::uint64_t newest) const;

  /// Returns the newest complete checkpoint with all its parts; the one before, where a part is torn, cut, bent or
  /// missing.
  /// @param complain is told of each checkpoint that cannot be used, and why
  /// @error errc::bad_data when there is none, errc::io when the folder cannot be read
  resumption newest(const std::function<void(const std::string&)>& complain) const;

  /// Returns the manifest of the newest complete checkpoint, and those of its parts that are here: missing ones are on
  /// other machines. A part that is here and damaged rules the checkpoint out, as in `newest`.
  /// @error as `newest`
  resumption newest_of_many(const std::function<void(const std::string&)>& complain) const;
  /// Returns the parts of this checkpoint that are here; the manifest need not be.
  /// @param complain is told of each that cannot be used, and why
  resumption parts_here(manifest m, const std::function<void(const std::string&)>& complain) const;

private:
  manifest manifest_of(std::uint64_t checkpoint) const;
  saved_worker part(const manifest& m, rank who) const;
  std::filesystem::path folder_of(std::uint64_t checkpoint) const;
  std::filesystem::path part_of(std::uint64_t checkpoint, rank who, std::size_t workers) const;
  std::vector<std::uint64_t> numbers() const;
  resumption read_newest(const std::function<resumption(std::uint64_t)>& read,
                         const std::function<void(const std::string&)>& complain) const;

  void make(std::uint64_t checkpoint) const;

  std::filesystem::path where_;
  bool has_run_; ///< the folder of the run is there: on other machines it may be made for the checkpoints
};

} // namespace gossamer::actors
