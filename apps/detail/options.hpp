#pragma once

#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/setting.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gossamer::apps {

/// The page on which a run may be watched.
struct live_options {
  std::string where;    ///< [HOST:]PORT; empty: there is no page
  bool control = false; ///< the page can inject faults, and hold simulations
};

/// The form in which a run under way is shown.
enum class ui {
  live,  ///< on terminals, lines that are renewed
  plain, ///< no line is renewed
  json,  ///< lines of JSON on standard output
};

/// Copies of what happens in a run, for other programs.
struct feed_options {
  std::string tensorboard; ///< folder that gets a folder of this run, with an event file; empty: none
  std::string events;      ///< file of JSON lines, or -, standard output; empty: none
  bool trace = false;      ///< write trace.json, of this process, of a run in real time
  ui shown = ui::live;

  bool on_standard_output() const { return shown == ui::json || events == "-"; }
  /// The files that get lines of JSON.
  std::vector<std::string> line_files() const {
    std::vector<std::string> all;
    if (on_standard_output())
      all.emplace_back("-");
    if (!events.empty() && events != "-")
      all.push_back(events);
    return all;
  }
};

/// The options of a run, in any world.
struct run_options {
  actors::run_settings run;
  bool workers_given = false;         ///< if false, their number follows from the devices
  actors::simulation_settings world;  ///< for the local world only `workers_per_node`
  bool measure_sample_time = false;   ///< instead of `world.sample_time_s`
  std::string cost = "default";       ///< default, none, measured, or the file that `world.cost` comes from
  std::string faults;                 ///< file of the plan; empty: none
  bool spares_processes = false;      ///< --processes no is given: the file has no faults of processes
  std::optional<std::uint64_t> chaos; ///< draw a plan; instead of `faults`
  std::optional<double> horizon_s;    ///< of the drawn plan; default: about the length of the run
  bool trace = true;
  std::string resume;           ///< folder of the run to go on with; empty: none
  bool parts_elsewhere = false; ///< parts of the checkpoint may be on other machines
  std::string out;              ///< run folder; empty: the next free one under runs/
  bool overwrite = false;
  // No settings of the run: neither files nor checkpoints have them.
  live_options live;
  feed_options feeds;
  bool report = false; ///< write report.html when it has ended, as far as this program can
  bool json = false;   ///< print the summary as JSON
};

/// True if `--cost` names a file.
bool names_a_file(const std::string& cost);

/// A flag of a command and a key of a configuration file, with one meaning.
using option = setting<run_options>;

/// The tables behind the flags, the configuration files and the configuration that a run writes back. There is one for
/// `train`, and one for `simulate` that begins with the same options.
const std::vector<option>& train_options();
const std::vector<option>& simulate_options();

/// What becomes of settings that a file has, and only simulations know.
enum class of_simulations { refused, passed_over };

/// Sets everything that a TOML file says. A relative path of a plan begins in the file's folder.
/// @error errc::io when it cannot be read; errc::usage with file:line on a syntax error, an unknown key, a bad value or
///        settings that are refused
void read_config(const std::string& file, const std::vector<option>& table, run_options& into,
                 of_simulations others = of_simulations::refused);

/// Sets everything that the configuration in a run's folder says.
/// @error as `read_config`; errc::bad_data where its last line is missing: settings may be missing, too
void read_config_of(const std::filesystem::path& run, const std::vector<option>& table, run_options& into,
                    of_simulations others = of_simulations::refused);

/// Returns the settings as a TOML text that `read_config` reads back.
/// @param command command that repeats the run, for the text's first line: "gossamer train"
std::string write_config(std::string_view command, const std::vector<option>& table, const run_options& from);

/// Returns the last line of the configuration in a run's folder, which `read_config_of` asks for: a comment with the
/// fingerprints of data and initial model, which no setting holds. A repetition elsewhere can be compared with them.
/// Cost: as `fingerprint_of`
std::string last_line_of_config(const actors::experiment& e);

/// Returns true if the data have the content of those of the run in that folder, or the folder does not tell.
/// Cost: as `fingerprint_of`. @error as `read_config_of`
bool has_data_of(const actors::experiment& e, const std::filesystem::path& run);

} // namespace gossamer::apps
