// The settings of a run as a TOML file.
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace gossamer::apps {

namespace {

constexpr std::uint64_t longest_configuration = std::uint64_t{1} << 20;

} // namespace

void read_config(const std::string& file, const std::vector<option>& table, run_options& into) {
  const auto text =
      read_file(file, {"configuration", longest_configuration, "a configuration has a line for each setting"});
  const auto beside = [&](std::string& path) { path = (std::filesystem::path(file).parent_path() / path).string(); };
  for (const auto& given : parse_settings(text, file, keys_of(simulate_options()))) {
    if (std::ranges::count(table, given.name, &setting_key::name) == 0)
      throw error(errc::usage, fmt::format("{}: {} is a setting of simulations only", given.where, given.name),
                  "remove it, or use the command simulate");
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
