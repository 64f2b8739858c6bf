#include "gossamer/apps/detail/result_keys.hpp"

#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/apps/detail/shell_word.hpp"
#include "gossamer/base/printable.hpp"
#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <xxhash.h>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

/// Returns the regular files in a folder and in the folders below it, ascending by path.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code problem;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at{folder, problem}; !problem && at != end; at.increment(problem))
    files.push_back(at->path().string());
  std::ranges::sort(files);
  return files;
}

/// Returns the paths that settings name, and other values that might be paths.
std::vector<std::string> paths_in(const run_options& o, const actors::tables& known) {
  std::vector<std::string> paths{o.faults, o.cost};
  for (const auto& [role, path] : files_of(o.run, known))
    paths.push_back(path);
  for (const auto* text : {&o.run.algorithm, &o.run.codec, &o.run.topology, &o.run.optimiser, &o.world.network})
    for (const auto& [key, value] : spec::parse(*text).values)
      paths.push_back(value);
  if (!o.resume.empty()) {
    const auto saved = files_below(checkpoints_in(o.resume).path());
    paths.insert(paths.end(), saved.begin(), saved.end());
  }
  return paths;
}

} // namespace

std::string result_keys::key_of(const std::vector<std::string>& words, const run_options& settings) {
  auto inputs = to_text(simulate_options(), settings); // also those of a configuration
  std::error_code none;
  for (const auto& path : paths_in(settings, known_))
    if (fs::is_regular_file(path, none))
      inputs += fmt::format("# {} {:016x}\n", path, digest_of(path));
  return fmt::format("{} # gossamer {}, inputs {:016x}", printable(shell_line(words)), GOSSAMER_VERSION,
                     XXH3_64bits(inputs.data(), inputs.size()));
}

/// What cannot be read counts as empty: the run itself says why.
std::uint64_t result_keys::digest_of(const std::string& file) {
  if (const auto found = digests_.find(file); found != digests_.end())
    return found->second;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(), &XXH3_freeState};
  XXH3_64bits_reset(state.get());
  std::ifstream in{file, std::ios::binary};
  std::vector<char> part(std::size_t{1} << 18);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0)
    XXH3_64bits_update(state.get(), part.data(), static_cast<std::size_t>(in.gcount()));
  return digests_[file] = XXH3_64bits_digest(state.get());
}

} // namespace gossamer::apps
