#pragma once

#include "gossamer/apps/embedded.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gossamer::apps {

/// The running program, with its own entries of tables beside the built-in ones.
class program {
public:
  /// @error errc::usage when two entries of a table have one name, or one is not complete
  program(std::string path, const embedding& with);
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  const std::string& path() const noexcept { return path_; } ///< as it was called: argv[0]
  const std::string& name() const noexcept { return name_; } ///< for messages
  const actors::tables& known() const noexcept { return known_; }
  /// Writes a line to standard error, behind the program's name.
  void say(const std::string& line) const;
  /// Tells the program around this one where the run is written down.
  void tell_folder(const std::filesystem::path& folder) const {
    if (on_folder_)
      on_folder_(folder);
  }
  /// False if the models of its runs mean nothing.
  bool has_results() const noexcept { return has_results_; }

private:
  std::string path_, name_;
  std::vector<actors::algorithm_entry> algorithms_;
  std::vector<compress::codec_entry> codecs_;
  std::vector<topology::topology_entry> topologies_;
  std::vector<compute::model_entry> models_;
  std::vector<compute::data_entry> data_;
  std::vector<compute::optimiser_entry> optimisers_;
  actors::tables known_{.algorithms = {"algorithm", algorithms_},
                        .codecs = {"codec", codecs_},
                        .topologies = {"topology", topologies_},
                        .models = {"model", models_},
                        .data = {"data", data_},
                        .optimisers = {"optimiser", optimisers_}};
  std::function<void(const std::filesystem::path&)> on_folder_;
  bool has_results_;
};

} // namespace gossamer::apps
