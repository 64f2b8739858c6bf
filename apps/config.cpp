// The settings of a run as a TOML file.
#include "gossamer/actors/protocol/fingerprint.hpp"
#include "gossamer/apps/detail/options.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/settings_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gossamer::apps {

namespace {

constexpr std::uint64_t longest_configuration = std::uint64_t{1} << 20;
constexpr std::string_view before_hashes = "# data";
constexpr std::size_t hash_digits = 16;

file_kind configuration() { return {"configuration", longest_configuration, "it has a line for each setting"}; }

std::string config_in(const std::filesystem::path& run) { return (run / "config.toml").string(); }

/// Returns the hash of the data that the configuration in a run's folder tells; empty if it tells none.
std::string told_data(const std::filesystem::path& run) {
  const auto file = config_in(run);
  const auto text = read_text(file, configuration());
  const auto at = text.rfind(fmt::format("\n{}", before_hashes));
  auto told = at == std::string::npos ? "" : text.substr(at + 1 + before_hashes.size(), 1 + hash_digits);
  std::erase_if(told, [](char c) { return c == ' ' || c == '\n'; });
  if (at == std::string::npos || (!told.empty() && told.size() < hash_digits))
    throw error(
        errc::bad_data,
        fmt::format("{} ends before its last line, '{} ...': it was copied or written in part, and settings may "
                    "be missing",
                    file, before_hashes),
        fmt::format("copy it anew from where the run was; if you have written it yourself, and it is whole, "
                    "end it with the line '{}'",
                    before_hashes));
  return told;
}

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
  const auto text = read_file(file, configuration());
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

void read_config_of(const std::filesystem::path& run, const std::vector<option>& table, run_options& into,
                    of_simulations others) {
  told_data(run); // first: what a line cut in two says is no help
  read_config(config_in(run), table, into, others);
}

std::string write_config(std::string_view command, const std::vector<option>& table, const run_options& from) {
  auto repeated = from;
  repeated.out.clear(); // a repetition writes to a folder of its own
  return fmt::format("# {} --config THIS-FILE repeats the run\n", command) + to_text(table, repeated);
}

std::string last_line_of_config(const actors::experiment& e) {
  const auto print = actors::fingerprint_of(e);
  return fmt::format("{} {:0{}x}, initial model {:0{}x}\n", before_hashes, print.data, hash_digits, print.initial,
                     hash_digits);
}

bool has_data_of(const actors::experiment& e, const std::filesystem::path& run) {
  const auto told = told_data(run);
  return told.empty() || told == fmt::format("{:0{}x}", actors::fingerprint_of(e).data, hash_digits);
}

} // namespace gossamer::apps
