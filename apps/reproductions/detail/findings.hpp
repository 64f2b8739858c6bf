#pragma once

#include "gossamer/apps/reproductions/detail/reproduction.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>

namespace gossamer::apps {

/// The mean over seeds, and how sure it is.
struct estimate {
  double mean = 0;
  std::optional<double> half_width = {}; ///< of the interval that holds the mean of all seeds with 95 %; none: one
                                         ///< seed, or a mean that is infinite
};

/// By Student's t-distribution; seeds count as independent and normal. Requires at least one value.
estimate estimated(std::span<const double> values);

/// What one method came to in one setting, at the rate that the rule chose.
struct cell {
  std::string method, setting;
  std::optional<double> rate = {};
  bool at_edge = false;                              ///< the least or the greatest rate that was tried
  std::map<std::string, std::vector<double>> values; ///< by measure and seed
  std::vector<actors::evaluation_record> curve;      ///< of the first seed
};

/// The mean of `quality` over the seeds decides; of equals, the smaller rate.
/// @param runs by rate, then seed
cell chosen(const reproduction& r, const variant& method, const variant& setting,
            std::span<const std::vector<outcome>> runs);

/// All that was measured: what the results file of a reproduction holds.
class findings {
public:
  std::string name, version, command;
  bool quick = false;
  double real_s = 0; ///< of all its runs together, one after another
  std::vector<cell> cells;

  /// @error errc::bad_data when there is none
  const cell& at(std::string_view method, std::string_view setting = {}) const;
  estimate estimate_of(std::string_view measure, std::string_view method, std::string_view setting = {}) const;
  /// The mean, with its name.
  named_number operator()(std::string_view measure, std::string_view method, std::string_view setting = {}) const;
};

nlohmann::ordered_json to_json(const findings& f);
/// @error errc::bad_data
findings findings_from(const nlohmann::ordered_json& object);

/// `name`.json in a folder of results. @error errc::io, errc::bad_data with the file
findings read_findings(const std::filesystem::path& file);

/// "0.123 +- 0.004"; "-" for what is infinite. Without the interval where all values are equal.
std::string to_text(const estimate& e, int digits);

} // namespace gossamer::apps
