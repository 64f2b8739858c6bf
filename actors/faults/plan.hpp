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

/// The kinds of faults. Joins and leaves are not failures: workers also come and go of their own accord.
enum class fault_kind : std::uint8_t {
  kill,      ///< workers stop for good, or start anew after `lasts_s`
  pause,     ///< workers neither compute nor answer for a while; frames to them wait
  slow,      ///< workers take `factor` times as long for a gradient
  partition, ///< all frames from one side to the other are lost
  drop,      ///< a share `rate` of the frames is lost
  duplicate, ///< a share `rate` of the frames arrives twice
  reorder,   ///< a share `rate` of the frames is held back up to `seconds`, so that later ones overtake them
  corrupt,   ///< a share `rate` of the frames arrives damaged
  delay,     ///< a share `rate` of the frames comes `seconds` later; frames behind them wait, so the order stays
  throttle,  ///< each link carries at most `bits_per_second`; frames queue up before it
  leave,     ///< workers hand over their residuals and leave; with `lasts_s` they come back
  join,      ///< absent workers come: their ranks are new, or their last holders have died or left
};
inline constexpr std::size_t fault_kinds = 12;

/// The most processes that vote, as the agreement has it, which this room does not see.
inline constexpr std::size_t most_coordinators = 7;

/// True if the kind strikes links, and not workers.
constexpr bool strikes_links(fault_kind kind) noexcept {
  return kind >= fault_kind::partition && kind <= fault_kind::throttle;
}
/// True if the kind strikes frames, of all links unless some are named.
constexpr bool strikes_frames(fault_kind kind) noexcept { return strikes_links(kind) && kind != fault_kind::partition; }

/// "kill": as in plan files.
std::string_view to_string(fault_kind kind) noexcept;

/// A place in a file, for messages ("plan.toml:12"); empty for a fault that was not read from a file. It never makes
/// two faults differ.
struct source_place {
  std::string text = {};

  friend bool operator==(const source_place&, const source_place&) noexcept { return true; }
};

/// One fault, and its time. docs/fault-injection.md lists the members that each kind uses. The others keep their
/// defaults; `check` sees to that.
struct fault {
  fault_kind kind = fault_kind::kill;

  std::vector<rank> workers = {};      ///< the workers it strikes; of a partition: one side, against all others
  std::vector<std::size_t> nodes = {}; ///< more of them, as groups of `workers_per_node` consecutive ranks
  std::vector<rank> from = {};         ///< on links from these; empty: from all
  std::vector<rank> to = {};           ///< on links to these; empty: to all
  double at_s = 0;                     ///< begin, in seconds after the start of the run
  std::optional<std::uint64_t> at_step =
      {};                             ///< or begin when the first of `named_workers` has done this many gradients
  std::optional<double> lasts_s = {}; ///< seconds from its begin to its end; absent: for ever
  double rate = 1;                    ///< share of the frames that are hit, in (0, 1]
  double factor = 0;                  ///< of a slow-down: >= 1
  double seconds = 0;
  double bits_per_second = 0;
  bool one_way = false; ///< of a partition: only frames from the first side to the second are lost
  /// For a kill, leave or join: strikes the processes of these workers, with all their workers.
  bool processes = false;
  /// For a kill: number of voting processes that die, the leader's first.
  std::optional<std::uint64_t> coordinators = {};

  source_place written_at = {};

  /// True if it strikes processes, not only workers.
  bool strikes_processes() const noexcept { return processes || coordinators.has_value(); }

  friend bool operator==(const fault&, const fault&) = default;
};

/// Seconds after the start at which a fault ends, or begins for ever; 0 where that is unknown: it waits for a step.
inline double last_switch_s(const fault& f) noexcept { return f.at_step ? 0 : f.at_s + f.lasts_s.value_or(0); }

inline constexpr double live_poll_s = 0.1;

/// All faults of a run. The order only sets the index of each fault.
struct fault_plan {
  std::vector<fault> faults;
  /// More faults may come while the run goes on (`fault_wishes`). Such a run looks for faults that are due only every
  /// `live_poll_s`; so does one that repeats it with the plan that it has left, which makes both the same.
  bool live = false;

  /// True if links and workers cannot be trusted.
  bool harms() const noexcept { return live || !faults.empty(); }

  /// Seconds after the start at which the last begin or end happens. Faults that wait for a step are left out: their
  /// times are unknown. 0 for an empty plan.
  double last_end_s() const noexcept;

  /// True if a fault waits for a step.
  bool needs_steps() const noexcept;

  /// True if a fault strikes processes.
  bool strikes_processes() const noexcept;

  friend bool operator==(const fault_plan&, const fault_plan&) = default;
};

/// The workers that a fault is about, ascending: those of `workers` and `nodes`, else those of `from` and `to`, else
/// all of them. Ranks behind the last worker, which `check` refuses, are left out.
std::vector<rank> named_workers(const fault& f, std::size_t workers, std::size_t workers_per_node);

/// Refuses a plan that does not fit a run: values out of range, members that a kind does not use or cannot do without,
/// workers and nodes that do not exist, a partition with an empty side.
/// @error errc::usage; names the place in the file, or else the index of the fault, the key and the allowed values
void check(const fault_plan& plan, std::size_t workers, std::size_t workers_per_node);

/// Refuses a plan that strikes processes, where that is not possible.
/// @error errc::usage; names the fault as `check` does
void check_without_processes(const fault_plan& plan);

/// One line for people: "worker 3 is dead from 2.5 s to 3.5 s".
std::string describe(const fault& f);
/// One line about faults whose run is over before they begin: their number, and the first of them. Empty for none.
std::string describe_missed(const std::vector<fault>& faults);

/// Limit of the text of a plan; parsed, it is 50 times as large.
inline constexpr std::uint64_t most_plan_bytes = std::uint64_t{16} << 20;

/// Reads the text of a plan file (docs/fault-injection.md).
/// @param file_name for messages
/// @error errc::usage; names file and line, the key, the allowed values and the nearest known name. `check` tests
///        whether workers and nodes exist: it knows how many there are
fault_plan parse_plan(std::string_view toml, std::string_view file_name);
/// @error as `parse_plan`, and errc::io
fault_plan read_plan(const std::filesystem::path& file);

/// The text of a plan file; `parse_plan` gives back an equal plan. Each fault has its description above it.
std::string to_toml(const fault_plan& plan);

} // namespace gossamer::actors
