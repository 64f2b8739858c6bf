// The settings of a run as a TOML file.
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace gossamer::apps {

namespace {

constexpr std::uint64_t longest_configuration = std::uint64_t{1} << 20;

/// @error errc::usage with the names of all of them
void refuse_all_of(const std::vector<given_setting>& others, const std::string& file) {
  std::vector<std::string> names;
  std::ranges::transform(others, std::back_inserter(names), &given_setting::name);
  if (names.size() == 1)
    throw error(errc::usage, fmt::format("{}: {} is a setting of simulations only", others[0].where, names[0]),
                "remove it, or use the command simulate");
  throw error(errc::usage, fmt::format("{}: {} are settings of simulations only", file, fmt::join(names, ", ")),
              "remove them, or use the command simulate");
}

} // namespace

void read_config(const std::string& file, const std::vector<option>& table, run_options& into, of_simulations others) {
  const auto text =
      read_file(file, {"configuration", longest_configuration, "a configuration has a line for each setting"});
  const auto beside = [&](std::string& path) { path = (std::filesystem::path(file).parent_path() / path).string(); };
  auto settings = parse_settings(text, file, keys_of(simulate_options()));
  const auto foreign = std::stable_partition(settings.begin(), settings.end(), [&](const given_setting& one) {
    return std::ranges::count(table, one.name, &setting_key::name) > 0;
  });
  if (others == of_simulations::refused && foreign != settings.end())
    refuse_all_of({foreign, settings.end()}, file);
  settings.erase(foreign, settings.end());
  for (const auto& given : settings) {
    apply(given, table, into);
    if (given.name == "faults" && !into.faults.empty())
      beside(into.faults);
    if (given.name == "cost" && names_a_file(into.cost))
      beside(into.cost);
  }
}

std::string write_config(std::string_view command, const std::vector<option>& table, const run_options& from) {
  auto repeated = from;
  repeated.out.clear(); // a repetition writes to a folder of its own
  return fmt::format("# {} --config THIS-FILE repeats the run\n", command) + to_text(table, repeated);
}

} // namespace gossamer::apps
