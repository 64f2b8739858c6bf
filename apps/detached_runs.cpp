#include "gossamer/apps/detail/detached_runs.hpp"

#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/apps/detail/user_folder.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 100;

/// Returns the entries, the newest first.
std::vector<fs::path> entries_in(const fs::path& state) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code problem;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(state, problem); !problem && at != end; at.increment(problem)) {
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (!gone && at->is_regular_file(gone) && at->path().extension() == ".run")
      found.emplace_back(written, at->path());
  }
  std::ranges::sort(found, std::greater{});
  std::vector<fs::path> result;
  result.reserve(found.size());
  for (const auto& [written, path] : found)
    result.push_back(path);
  return result;
}

} // namespace

fs::path state_folder(const std::string& what, const std::string& remedy) {
  return user_folder("XDG_STATE_HOME", ".local/state", what, remedy);
}

void remember_detached(const fs::path& folder, const std::string& process) {
  const auto state = state_folder();
  std::error_code problem;
  fs::create_directories(state, problem);
  const auto entries = entries_in(state);
  for (auto k = most_entries - 1; k < entries.size(); ++k)
    fs::remove(entries[k], problem);
  const auto file = state / (process + ".run");
  if (!(std::ofstream{file} << folder.string() << std::endl))
    throw error(errc::io, fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)),
                "name the run's folder to come back to it");
}

fs::path latest_detached() {
  const auto state = state_folder();
  const auto entries = entries_in(state);
  if (entries.empty())
    throw error(errc::usage, fmt::format("no run was detached: {} knows none", state.string()),
                "name the folder of a run, or the HOST:PORT where one is led");
  constexpr std::uint64_t most_bytes = 65536;
  const auto text = read_text(entries.front().string(), {"entry of a run", most_bytes, "it names a folder"});
  return text.substr(0, text.find('\n'));
}

std::string ways_back_to(const fs::path& folder, const launch_record& r) {
  return fmt::format("the run goes on by itself, as process {0}; it is led at {1}\n"
                     "  gossamer status {2}   says how far it is\n"
                     "  gossamer logs {2}     shows what it has said\n"
                     "  gossamer attach {2}   follows it to its end; Ctrl-C there leaves it alone\n"
                     "  gossamer stop {2}     ends it as Ctrl-C would have, and waits until it is written down\n",
                     r.process, r.leader, shell_word(shown(folder)));
}

} // namespace gossamer::apps
