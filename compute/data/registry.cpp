#include "gossamer/base/within_memory.hpp"
#include "gossamer/compute/data/detail/entries.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace gossamer::compute {

const registry<data_entry>& data_sources() {
  using namespace detail;
  static const std::array entries{digits_data(),  logistic_data(), words_data(), quadratic_data(), idx_data(),
                                  cifar10_data(), libsvm_data(),   csv_data(),   npz_data(),       text_data()};
  static const registry<data_entry> table{"data", entries};
  return table;
}

namespace {

/// Puts a folder in front of relative paths. An absolute path stays.
spec below(const std::string& folder, spec given, const registry<data_entry>& known) {
  for (const auto& p : known.find(given.name).about.parameters)
    for (auto& [key, value] : given.values)
      if (key == p.key && p.kind == parameter::type::path && !value.empty())
        value = (std::filesystem::path{folder} / value).string();
  return given;
}

} // namespace

data_split load_data(std::string_view text, std::uint64_t seed, const std::string& folder, const data_files& elsewhere,
                     const registry<data_entry>& known) {
  const auto [entry, values] = known.resolve(below(folder, spec::parse(text), known));
  const auto files = entry.find && elsewhere.empty() ? entry.find(values) : elsewhere;
  return within_memory(fmt::format("loading the data '{}'", text), "name less data, or give it more memory",
                       [&entry = entry, &values = values, &files, seed] { return entry.load(values, files, seed); });
}

data_files find_data(std::string_view text, const std::string& folder, const registry<data_entry>& known) {
  const auto [entry, values] = known.resolve(below(folder, spec::parse(text), known));
  return entry.find ? entry.find(values) : data_files{};
}

const std::string& detail::path_of(const data_files& files, std::string_view role) {
  const auto found = files.find(role);
  if (found == files.end())
    throw error(errc::bad_data, fmt::format("the files of the data lack '{}'", role),
                "they are of another data set, or of another version of the program");
  return found->second;
}

} // namespace gossamer::compute
