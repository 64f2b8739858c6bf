#pragma once

#include "gossamer/apps/reproductions/detail/reproduction.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <span>
#include <utility>

namespace gossamer::apps {

/// The mean over seeds, and its uncertainty.
struct estimate {
  double mean = 0;
  std::optional<double> half_width = {}; ///< of the interval that holds the mean of all seeds with 95 %; `nullopt`: one
                                         ///< seed, or a mean that is infinite
};

/// Estimates by Student's t-distribution; seeds count as independent and normal. NaN without a value.
estimate estimated(std::span<const double> values);

/// The result of one method in one setting, at the rate that the rule chose.
struct cell {
  std::string method, setting;
  std::optional<double> rate = {};
  bool at_edge = false; ///< true if the rate is the least or the greatest that was tried
  std::map<std::string, std::vector<double>> values = {}; ///< by measure and seed
  std::vector<actors::evaluation_record> curve = {};      ///< curve of the first seed; empty if it diverged
  std::vector<std::size_t> diverged = {};                 ///< seeds, from 1; their values are the worst

  bool diverged_with(std::size_t seed) const;
};

/// Chooses, of the rates that diverged with no seed, or of all if there is none, that with the best mean of `quality`
/// over the seeds; the first of equals.
/// @param runs by rate, then seed
cell chosen(const reproduction& r, const variant& method, const variant& setting,
            std::span<const std::vector<outcome>> runs);

/// All measurements: the content of the results file of a reproduction.
class findings {
public:
  std::string name, version, command;
  bool quick = false;
  double real_s = 0; ///< time of all its runs together, one after another
  std::vector<cell> cells;

  /// @error errc::bad_data when there is none
  const cell& at(std::string_view method, std::string_view setting = {}) const;
  /// By seed.
  const std::vector<double>& values(std::string_view measure, std::string_view method,
                                    std::string_view setting = {}) const;
  /// Of the seeds that did not diverge; NaN if all did.
  estimate estimate_of(std::string_view measure, std::string_view method, std::string_view setting = {}) const;
  /// Returns the value of the only seed, with its name. @error errc::bad_data for several, which have an interval
  named_number operator()(std::string_view measure, std::string_view method, std::string_view setting = {}) const;
};

/// One method in one setting.
struct place {
  std::string_view method, setting = {};
};

/// a / b and a - b, seed by seed: runs of one seed have the same data, and begin alike. Quotients have a geometric
/// mean.
ranged_number quotient(const findings& f, std::string_view measure, const place& a, const place& b);
ranged_number difference(const findings& f, std::string_view measure, const place& a, const place& b);
/// The mean of a - b over these pairs, seed by seed: what differs between the pairs is no noise, and a seed counts
/// once.
ranged_number difference(const findings& f, std::string_view measure, std::span<const std::pair<place, place>> pairs,
                         std::string name);
/// The same over settings.
ranged_number difference(const findings& f, std::string_view measure, std::string_view a, std::string_view b,
                         std::span<const std::string> settings);
/// The interval has no ends if some values are finite and the mean is not.
ranged_number ranged(std::span<const double> values, std::string name);
/// A number with its interval.
ranged_number ranged(const findings& f, std::string_view measure, const place& a);

nlohmann::ordered_json to_json(const findings& f);
/// @error errc::bad_data
findings findings_from(const nlohmann::ordered_json& object);

/// Reads `name`.json in a folder of results. @error errc::io, errc::bad_data with the file
findings read_findings(const std::filesystem::path& file);

/// "0.123 +- 0.004"; "-" if infinite. Without the interval if all values are equal.
std::string to_text(const estimate& e, int digits);

} // namespace gossamer::apps
