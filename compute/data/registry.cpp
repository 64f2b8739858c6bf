#include "gossamer/base/within_memory.hpp"
#include "gossamer/compute/data/detail/entries.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::compute {

const registry<data_entry>& data_sources() {
  using namespace detail;
  static const std::array entries{digits_data(),  logistic_data(), quadratic_data(), idx_data(),
                                  cifar10_data(), libsvm_data(),   csv_data()};
  static const registry<data_entry> table{"data", entries};
  return table;
}

data_split load_data(std::string_view text, std::uint64_t seed) {
  const auto [entry, values] = data_sources().resolve(text);
  return within_memory(fmt::format("loading the data '{}'", text), "name less data, or give it more memory",
                       [&entry = entry, &values = values, seed] { return entry.load(values, seed); });
}

} // namespace gossamer::compute
