#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gossamer::apps {

struct report_options {
  std::vector<std::string> runs; ///< folders
  std::string out = "report.html";
};

/// `gossamer report RUN...`: one page that holds all there is to say about some runs.
/// @error as `report_of`; errc::io if the page cannot be written
void report(const report_options& o);

/// True if this program was built with what pages are made of.
bool has_reports() noexcept;
/// Refuses when it was not. @error errc::usage
void require_reports();

/// Writes report.html into the folder of a run that has ended. What keeps it from that costs no run.
/// @returns its name; or nothing, and `say` hears why
std::vector<std::string> report_into(const std::filesystem::path& run,
                                     const std::function<void(const std::string&)>& say);

/// Returns the page, which needs no other file and asks no other machine for anything.
/// @error errc::usage when this program was built without pages; errc::io and errc::bad_data, with file and line, when
///        a run cannot be read
std::string report_of(const std::vector<std::string>& folders);

/// Returns what a page shows of the runs, as JSON without the character '<': {"version", "settings": [{"name", "help",
/// "values": for each run a text or null}], "runs": [{"name", "command", "summary", "blame": null where there is none;
/// "evaluations": a column for each field; "events", "faults", and how many are "left_out"}]}.
/// Size: bounded for each run, see `most_rows`.
std::string report_data(const std::vector<std::string>& folders);

/// The most evaluations, events, and pairs of waiting workers that a page holds for a run.
inline constexpr std::size_t most_rows = 2000;

} // namespace gossamer::apps
