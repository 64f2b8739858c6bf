#pragma once

#include "gossamer/topology/graph.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::actors {

using topology::rank;

/// What can go wrong, or merely happen: workers also come and go of their own accord.
enum class fault_kind : std::uint8_t {
  kill,      ///< workers stop for good, or start anew after `lasts_s`
  pause,     ///< workers neither compute nor answer for a while; what was sent to them waits
  slow,      ///< workers take `factor` times as long for a gradient
  partition, ///< no frame gets from one side to the other
  drop,      ///< a share `rate` of the frames is lost
  duplicate, ///< a share `rate` of the frames arrives twice
  reorder,   ///< a share `rate` of the frames is held back up to `seconds`, so that later ones overtake them
  corrupt,   ///< a share `rate` of the frames arrives damaged
  delay,     ///< a share `rate` of the frames comes `seconds` later; those behind it wait, so the order stays
  throttle,  ///< each link carries at most `bits_per_second`; frames queue up before it
  leave,     ///< workers leave, handing over what they owe; with `lasts_s` they come back
  join,      ///< workers come that are not there: nobody has had their ranks yet, or they have died or left
};
inline constexpr std::size_t fault_kinds = 12;

/// Whether it strikes links, and not workers.
constexpr bool strikes_links(fault_kind kind) noexcept {
  return kind >= fault_kind::partition && kind <= fault_kind::throttle;
}
/// Whether it strikes frames, of all links unless some are named.
constexpr bool strikes_frames(fault_kind kind) noexcept { return strikes_links(kind) && kind != fault_kind::partition; }

/// "kill": as in plan files.
std::string_view to_string(fault_kind kind) noexcept;

/// Where in a file something stands, for messages ("plan.toml:12"); empty for what was not read from a file. It never
/// makes two faults differ.
struct source_place {
  std::string text = {};

  friend bool operator==(const source_place&, const source_place&) noexcept { return true; }
};

/// One thing that goes wrong, and when. Which members a kind uses: docs/fault-injection.md. The others keep their
/// defaults; `check` sees to that.
struct fault {
  fault_kind kind = fault_kind::kill;

  std::vector<rank> workers = {};            ///< whom it strikes; of a partition: one side, against all others
  std::vector<std::size_t> nodes = {};       ///< the same, in groups of `workers_per_node` consecutive ranks
  std::vector<rank> from = {};               ///< on links from these; empty: from everybody
  std::vector<rank> to = {};                 ///< on links to these; empty: to everybody
  double at_s = 0;                           ///< begins so many seconds after the start of the run,
  std::optional<std::uint64_t> at_step = {}; ///< or when the first of `named_workers` has done so many gradients
  std::optional<double> lasts_s = {};        ///< seconds from its begin to its end; absent: for ever
  double rate = 1;                           ///< share of the frames that are hit, in (0, 1]
  double factor = 0;                         ///< of a slow-down: >= 1
  double seconds = 0;
  double bits_per_second = 0;
  bool one_way = false; ///< of a partition: only frames from the first side to the second are lost
  /// Of a kill, leave or join: the processes of these workers do, with everybody who lives there.
  bool processes = false;
  /// Of a kill: so many processes die that vote on who takes part, the one that leads first.
  std::optional<std::uint64_t> coordinators = {};

  source_place written_at = {};

  /// Whether it happens to processes, not only to workers.
  bool strikes_processes() const noexcept { return processes || coordinators.has_value(); }

  friend bool operator==(const fault&, const fault&) = default;
};

/// Everything that goes wrong in a run. The order says nothing but which index a fault has.
struct fault_plan {
  std::vector<fault> faults;

  /// Seconds after the start at which the last begin or end happens. Faults that wait for a step are left out, for
  /// nobody knows when that is. 0 for an empty plan.
  double last_end_s() const noexcept;

  /// Whether a fault waits for a step.
  bool needs_steps() const noexcept;

  /// Whether a fault happens to processes.
  bool strikes_processes() const noexcept;

  friend bool operator==(const fault_plan&, const fault_plan&) = default;
};

/// The workers that a fault is about, ascending: those of `workers` and `nodes`, else those of `from` and `to`, else
/// all of them. Ranks behind the last worker, which `check` refuses, are left out.
std::vector<rank> named_workers(const fault& f, std::size_t workers, std::size_t workers_per_node);

/// Refuses a plan that does not fit a run: values out of range, members that a kind does not use or cannot do without,
/// workers and nodes that do not exist, a partition with nobody on one side.
/// @error errc::usage; names the place in the file, or else the index of the fault, the key and what is allowed
void check(const fault_plan& plan, std::size_t workers, std::size_t workers_per_node);

/// Refuses a plan that does something to processes, where that cannot be done.
/// @error errc::usage; names the fault as `check` does
void check_without_processes(const fault_plan& plan);

/// One line for people: "worker 3 is dead from 2.5 s to 3.5 s".
std::string describe(const fault& f);

/// Reads the text of a plan file (docs/fault-injection.md).
/// @param file_name for messages
/// @error errc::usage; names file and line, the key, what is allowed and the nearest known name. Whether workers and
///        nodes exist is left to `check`, which knows how many there are
fault_plan parse_plan(std::string_view toml, std::string_view file_name);
/// @error as `parse_plan`, and errc::io
fault_plan read_plan(const std::filesystem::path& file);

/// The text of a plan file; `parse_plan` gives back an equal plan. Each fault has its description above it.
std::string to_toml(const fault_plan& plan);

} // namespace gossamer::actors
