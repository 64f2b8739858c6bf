#include "gossamer/apps/detail/launch_folder.hpp"

#include "gossamer/actors/telemetry/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

constexpr const char* output_name = "output.log";

std::string log_of(std::size_t node) { return fmt::format("nodes/{}.log", node); }

} // namespace

launch_folder::~launch_folder() {
  nodes_.push_back(output_);
  for (const int file : nodes_)
    if (file >= 0)
      close(file);
}

void launch_folder::open(const fs::path& folder, std::size_t nodes) {
  if (is_open())
    return;
  path_ = folder;
  std::error_code problem;
  fs::create_directories(path_ / "nodes", problem);
  look_at(problem.value(), "nodes");
  output_ = open_file(output_name);
  for (std::size_t k = 0; k < nodes; ++k)
    nodes_.push_back(open_file(log_of(k)));
  for (auto k = nodes; fs::remove(path_ / log_of(k), problem); ++k) // logs of an earlier run
    ;
}

int launch_folder::open_file(const fs::path& file) {
  constexpr int everybody_reads = 0644;
  const int result =
      ::open((path_ / file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, everybody_reads);
  look_at(result < 0 ? errno : 0, file.string());
  return result;
}

void launch_folder::keep_output(const std::string& line) { write_line(output_, output_name, line); }

void launch_folder::keep_line_of(std::size_t node, const std::string& line) {
  if (node < nodes_.size())
    write_line(nodes_[node], log_of(node), line);
}

void launch_folder::write_line(int file, const std::string& name, const std::string& line) {
  if (file < 0)
    return;
  const auto text = line + '\n';
  const auto written = write(file, text.data(), text.size());
  if (written < 0)
    look_at(errno, name);
  else if (static_cast<std::size_t>(written) < text.size())
    look_at(ENOSPC, name);
}

void launch_folder::keep(const launch_record& r) {
  if (is_open())
    look_at(write_launch(path_, r), "launch.toml");
}

void launch_folder::keep(const std::vector<node_record>& nodes) {
  if (is_open())
    look_at(write_nodes(path_, nodes), "nodes/nodes.json");
}

void launch_folder::take_streams() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    dup2(output_ >= 0 ? output_ : nowhere, stream);
  close(nowhere);
}

fs::path new_folder_for(std::string leader) {
  std::ranges::replace(leader, '/', '_');
  return absolute(actors::run_folder::make_next("runs", "on-" + leader));
}

void launch_folder::look_at(int problem, const std::string& file) {
  if (problem != 0 && !std::exchange(complained_, true))
    complain_(fmt::format("cannot write {}: {}; the run goes on, and what it says may not be kept",
                          (path_ / file).string(), std::strerror(problem)));
}

} // namespace gossamer::apps
