#include "gossamer/actors/telemetry/time_use.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gossamer::actors {

std::string to_string(activity what) {
  static constexpr std::array names{"computing", "compressing", "communicating", "waiting"};
  return names[static_cast<std::size_t>(what)];
}

std::string describe(const std::vector<time_use>& workers) {
  std::string text;
  for (const auto what : activities) {
    double sum_s = 0;
    for (const auto& w : workers)
      sum_s += 1e-9 * static_cast<double>(w.of(what));
    text += fmt::format("{}{} {:.3g} s", text.empty() ? "" : ", ", to_string(what),
                        sum_s / static_cast<double>(std::max<std::size_t>(workers.size(), 1)));
  }
  return text;
}

std::string to_json(const std::vector<time_use>& workers) {
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    nlohmann::ordered_json row{{"rank", i}};
    for (const auto what : activities)
      row[to_string(what) + "_s"] = 1e-9 * static_cast<double>(workers[i].of(what));
    rows.push_back(std::move(row));
  }
  return rows.dump();
}

} // namespace gossamer::actors
