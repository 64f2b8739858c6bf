#include "gossamer/apps/detail/launch_record.hpp"

#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <span>
#include <sstream>
#include <unistd.h>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "launch.toml";
constexpr auto any_number = interval<std::uint64_t>{0, std::numeric_limits<std::int64_t>::max()};

const settings_table<launch_record>& record_table() {
  static const settings_table<launch_record> table{
      number_setting({"process", "N", "which launches it"}, &launch_record::process, any_number),
      number_setting({"started", "N", "when that began"}, &launch_record::started, any_number),
      text_setting({"boot", "ID", "of the machine"}, &launch_record::boot),
      text_setting({"leader", "HOST:PORT", "where it is led"}, &launch_record::leader),
      text_setting({"progress", "TEXT", "how far it is"}, &launch_record::progress),
      switch_setting({"stops", "", "whether it has been asked to"}, &launch_record::stops),
      number_setting({"status", "N", "exit status"}, &launch_record::status, any_number),
      text_setting({"goes_on_in", "DIR", "where it was started again"}, &launch_record::goes_on_in)};
  return table;
}

/// Reads through a stream, because files of the system report no size.
std::string first_line_of(const std::string& file) {
  std::string line;
  std::getline(std::ifstream{file}, line);
  return line;
}

/// Returns the start of a process, in ticks; 0 for a process that is gone, or only waits to be reaped.
std::uint64_t start_of(std::uint64_t process) {
  const auto line = first_line_of(fmt::format("/proc/{}/stat", process));
  const auto name_ends = line.rfind(')'); // names may contain anything
  if (name_ends == std::string::npos)
    return 0;
  std::istringstream words{line.substr(name_ends + 1)};
  std::string state, skipped;
  words >> state;
  constexpr int between = 18; // fields from the state to the start
  for (int k = 0; k < between; ++k)
    words >> skipped;
  std::uint64_t start = 0;
  words >> start;
  return state == "Z" || state == "X" ? 0 : start;
}

std::string present_boot() { return first_line_of("/proc/sys/kernel/random/boot_id"); }

/// @returns 0, or the system's reason
int replace(const fs::path& file, const std::string& text) {
  return replace_by_renaming(file.string(), file.string() + ".part", std::as_bytes(std::span{text}), false);
}

} // namespace

void note_place(std::vector<node_record>& nodes, const std::string& words) {
  const auto parts = split(words, ' ');
  if (parts.size() != 3)
    return;
  const auto k = parse_integer("the number of a node", parts[0], 0, static_cast<std::int64_t>(nodes.size()) - 1);
  auto& node = nodes[static_cast<std::size_t>(k)];
  node.address = parts[1];
  node.ranks = parts[2];
}

launch_record own_record() {
  launch_record r;
  r.process = static_cast<std::uint64_t>(getpid());
  r.started = start_of(r.process);
  r.boot = present_boot();
  return r;
}

bool is_alive(const launch_record& r) {
  return r.process > 0 && r.started > 0 && r.boot == present_boot() && start_of(r.process) == r.started;
}

launch_record read_launch(const fs::path& folder) {
  const auto file = folder / file_name;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw error(errc::usage, fmt::format("{} holds no run that was launched", folder.string()),
                "name the folder of one, or the HOST:PORT where one is led; gossamer launch says both");
  launch_record result;
  constexpr std::uint64_t most_bytes = 65536;
  const auto text = read_text(file.string(), {"record of a launch", most_bytes, "gossamer launch wrote a few lines"});
  for (const auto& given : parse_settings(text, file.string(), keys_of(record_table())))
    apply(given, record_table(), result);
  return result;
}

void note_next_folder(const fs::path& folder, const fs::path& next) {
  auto r = read_launch(folder);
  r.goes_on_in = next.filename().string();
  if (const int problem = write_launch(folder, r); problem != 0)
    throw error(errc::io, fmt::format("cannot write {}: {}", (folder / file_name).string(), std::strerror(problem)),
                fmt::format("name the folder {} to come back to the run", shown(next)));
}

fs::path last_folder(fs::path folder) {
  const auto first = shown(folder);
  std::set<fs::path> passed;
  for (auto r = read_launch(folder); !r.goes_on_in.empty(); r = read_launch(folder)) {
    std::error_code problem;
    const auto next = fs::canonical(folder, problem).parent_path() / r.goes_on_in;
    if (!passed.insert(next).second)
      throw error(errc::bad_data, fmt::format("the folders where {} goes on lead back to {}", first, shown(next)),
                  "remove goes_on_in from launch.toml in the folder where the run is");
    if (!fs::exists(next / file_name, problem))
      throw error(errc::usage,
                  fmt::format("{} goes on in {}, which holds no run that was launched", shown(folder), shown(next)),
                  "that folder was moved or removed: name the folder where it is");
    folder = next;
  }
  return folder;
}

std::string shown(const fs::path& folder) {
  std::error_code problem;
  const auto near = fs::proximate(folder, problem).string();
  return problem || near.starts_with("..") ? folder.string() : near;
}

int write_launch(const fs::path& folder, const launch_record& r) {
  return replace(folder / file_name, to_text(record_table(), r));
}

int write_nodes(const fs::path& folder, const std::vector<node_record>& nodes) {
  std::string lines;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto& n = nodes[k];
    nlohmann::ordered_json line{{"node", k}, {"host", n.host}, {"address", n.address}, {"ranks", n.ranks}};
    line["status"] = n.status ? nlohmann::ordered_json(*n.status) : nlohmann::ordered_json();
    line["restarts"] = n.restarts;
    lines += (lines.empty() ? "[" : ",\n ") + line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return replace(folder / "nodes" / "nodes.json", lines + "]\n");
}

} // namespace gossamer::apps
