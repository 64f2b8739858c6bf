#pragma once

#include "gossamer/apps/detail/launch_record.hpp"

#include <functional>

namespace gossamer::apps {

/// The part of a run's folder that its launch writes: output.log, the launch's own output; nodes/K.log, the output of
/// each node; nodes/nodes.json, and launch.toml. A run goes on when these cannot be written: a message says so once.
class launch_folder {
public:
  using complaint = std::function<void(const std::string&)>;

  explicit launch_folder(complaint complain) : complain_(std::move(complain)) {}
  launch_folder(const launch_folder&) = delete;
  launch_folder& operator=(const launch_folder&) = delete;
  ~launch_folder();

  /// Keeps everything there from now on. Before, nothing is kept.
  void open(const std::filesystem::path& folder, std::size_t nodes);
  bool is_open() const noexcept { return !path_.empty(); }
  const std::filesystem::path& path() const noexcept { return path_; } ///< absolute

  void keep_output(const std::string& line);
  void keep_line_of(std::size_t node, const std::string& line);
  void keep(const launch_record& r);
  void keep(const std::vector<node_record>& nodes);
  /// Redirects this process's standard output and standard error into output.log.
  void take_streams();

private:
  int open_file(const std::filesystem::path& file);
  void write_line(int file, const std::string& name, const std::string& line);
  void look_at(int problem, const std::string& file);

  complaint complain_;
  std::filesystem::path path_;
  int output_ = -1;
  std::vector<int> nodes_; // by number of the node
  bool complained_ = false;
};

/// Makes a folder for the launch's files of a run whose own folder is on its leader's machine. @returns its path,
/// absolute
std::filesystem::path new_folder_for(std::string leader);

} // namespace gossamer::apps
