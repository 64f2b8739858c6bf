#include "gossamer/apps/reproductions/detail/findings.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>

namespace gossamer::apps {

namespace {

using json = nlohmann::ordered_json;

/// Student's t for 95 %, two-sided, by degrees of freedom from 1.
constexpr std::array t_of_95{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};

double value_of(const measure& m, const outcome& o) {
  if (!m.of)
    return o.observed.at(m.name);
  return o.diverged() ? m.worst() : m.of(o).value_or(m.worst());
}

std::vector<double> values_of(const measure& m, std::span<const outcome> runs) {
  std::vector<double> values(runs.size());
  std::ranges::transform(runs, values.begin(), [&](const auto& o) { return value_of(m, o); });
  return values;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Less is better: a rate that diverged with any seed is behind all others, however good its mean is.
std::pair<bool, double> badness(const measure& quality, std::span<const outcome> runs) {
  const double m = mean(values_of(quality, runs));
  return {std::ranges::any_of(runs, &outcome::diverged), quality.less_is_better ? m : -m};
}

/// Returns the position of the best rate; the first of equals.
std::size_t best_of(const measure& quality, std::span<const std::vector<outcome>> runs) {
  const auto best = std::ranges::min_element(runs, {}, [&](const auto& of_rate) { return badness(quality, of_rate); });
  return static_cast<std::size_t>(best - runs.begin());
}

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_from(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

json to_json(const cell& c) {
  json object{{"method", c.method}, {"setting", c.setting}};
  if (c.rate)
    object.update({{"rate", *c.rate}, {"at_edge", c.at_edge}});
  object["values"] = json::object();
  for (const auto& [name, values] : c.values)
    for (const double value : values)
      object["values"][name].push_back(number(value));
  if (!c.diverged.empty())
    object["diverged"] = c.diverged;
  object["curve"] = json::array();
  for (const auto& record : c.curve)
    object["curve"].push_back(json::parse(actors::to_json(record)));
  return object;
}

cell cell_from(const json& object) {
  cell c{.method = object.at("method"), .setting = object.at("setting")};
  if (object.contains("rate")) {
    c.rate = object.at("rate").get<double>();
    c.at_edge = object.at("at_edge");
  }
  for (const auto& [name, values] : object.at("values").items())
    for (const auto& value : values)
      c.values[name].push_back(number_from(value));
  if (object.contains("diverged"))
    c.diverged = object.at("diverged").get<std::vector<std::size_t>>();
  for (const auto& record : object.at("curve"))
    c.curve.push_back(actors::evaluation_from_json(record.dump()));
  return c;
}

} // namespace

estimate estimated(std::span<const double> values) {
  const double middle = mean(values);
  const auto n = values.size();
  if (n < 2 || !std::isfinite(middle))
    return {.mean = middle};
  double squares = 0;
  for (const double value : values)
    squares += (value - middle) * (value - middle);
  const auto freedom = std::min(n - 1, t_of_95.size());
  return {.mean = middle, .half_width = t_of_95[freedom - 1] * std::sqrt(squares / static_cast<double>((n - 1) * n))};
}

cell chosen(const reproduction& r, const variant& method, const variant& setting,
            std::span<const std::vector<outcome>> runs) {
  const auto best = best_of(r.quality, runs);
  cell c{.method = method.name, .setting = setting.name};
  if (!r.rates.empty()) {
    c.rate = method.rate_unit * r.rates[best];
    const auto [least, greatest] = std::ranges::minmax(r.rates);
    c.at_edge = r.rates.size() > 1 && (r.rates[best] == least || r.rates[best] == greatest);
  }
  for (const auto& m : r.measures)
    c.values[m.name] = values_of(m, runs[best]);
  for (std::size_t i = 0; i < runs[best].size(); ++i)
    if (runs[best][i].diverged())
      c.diverged.push_back(i + 1);
  c.curve = runs[best].front().evaluations;
  return c;
}

bool cell::diverged_with(std::size_t seed) const { return std::ranges::find(diverged, seed) != diverged.end(); }

const cell& findings::at(std::string_view method, std::string_view setting) const {
  const auto found =
      std::ranges::find_if(cells, [&](const auto& c) { return c.method == method && c.setting == setting; });
  if (found == cells.end())
    throw error(errc::bad_data, fmt::format("the results of {} have no '{}' in setting '{}'", name, method, setting),
                "run it again: they are of another version");
  return *found;
}

const std::vector<double>& findings::values(std::string_view measure, std::string_view method,
                                            std::string_view setting) const {
  const auto& c = at(method, setting);
  if (const auto found = c.values.find(std::string{measure}); found != c.values.end())
    return found->second;
  throw error(errc::bad_data, fmt::format("the results of {} have no '{}' of '{}'", name, measure, method),
              "run it again: they are of another version");
}

estimate findings::estimate_of(std::string_view measure, std::string_view method, std::string_view setting) const {
  const auto& all = values(measure, method, setting);
  const auto& c = at(method, setting);
  std::vector<double> ended;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!c.diverged_with(i + 1))
      ended.push_back(all[i]);
  return estimated(ended);
}

named_number findings::operator()(std::string_view measure, std::string_view method, std::string_view setting) const {
  const auto& all = values(measure, method, setting);
  auto what = fmt::format("{} of {}{}", measure, method, setting.empty() ? "" : fmt::format(" ({})", setting));
  if (all.size() != 1)
    throw error(errc::bad_data, fmt::format("{} has {} seeds, where one is judged", what, all.size()),
                "judge several by their interval: ranged, quotient or difference");
  return {all.front(), std::move(what)};
}

namespace {

std::string text_of(const place& p) {
  return p.setting.empty() ? std::string{p.method} : fmt::format("{} ({})", p.method, p.setting);
}

template <class F>
std::vector<double> of_both(const findings& f, std::string_view measure, const place& a, const place& b, F combined) {
  const auto& left = f.values(measure, a.method, a.setting);
  const auto& right = f.values(measure, b.method, b.setting);
  std::vector<double> values(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = combined(left[i], right[i]);
  return values;
}

} // namespace

ranged_number ranged(std::span<const double> values, std::string name) {
  const auto e = estimated(values);
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (!std::isfinite(e.mean) && std::ranges::any_of(values, [](double value) { return std::isfinite(value); }))
    return {e.mean, -inf, inf, std::move(name)};
  const double half = e.half_width.value_or(0);
  return {e.mean, e.mean - half, e.mean + half, std::move(name)};
}

ranged_number quotient(const findings& f, std::string_view measure, const place& a, const place& b) {
  const auto logs = of_both(f, measure, a, b, [](double x, double y) { return std::log(x / y); });
  auto r = ranged(logs, fmt::format("{} of {} over {}", measure, text_of(a), text_of(b)));
  for (double* end : {&r.value, &r.least, &r.most})
    *end = std::exp(*end);
  return r;
}

ranged_number difference(const findings& f, std::string_view measure, const place& a, const place& b) {
  return ranged(of_both(f, measure, a, b, std::minus<>{}),
                fmt::format("{} of {} less {}", measure, text_of(a), text_of(b)));
}

ranged_number difference(const findings& f, std::string_view measure, std::span<const std::pair<place, place>> pairs,
                         std::string name) {
  std::vector<double> means;
  for (const auto& [a, b] : pairs) {
    const auto of_one = of_both(f, measure, a, b, std::minus<>{});
    means.resize(of_one.size());
    std::ranges::transform(means, of_one, means.begin(), std::plus<>{});
  }
  for (double& one : means)
    one /= static_cast<double>(pairs.size());
  return ranged(means, std::move(name));
}

ranged_number difference(const findings& f, std::string_view measure, std::string_view a, std::string_view b,
                         std::span<const std::string> settings) {
  std::vector<std::pair<place, place>> pairs;
  for (const auto& setting : settings)
    pairs.push_back({{a, setting}, {b, setting}});
  return difference(f, measure, pairs,
                    fmt::format("{} of {} less {} (mean of {} settings)", measure, a, b, settings.size()));
}

ranged_number ranged(const findings& f, std::string_view measure, const place& a) {
  return ranged(f.values(measure, a.method, a.setting), fmt::format("{} of {}", measure, text_of(a)));
}

json to_json(const findings& f) {
  json object{
      {"name", f.name}, {"version", f.version}, {"command", f.command}, {"quick", f.quick}, {"real_s", f.real_s}};
  object["cells"] = json::array();
  for (const auto& c : f.cells)
    object["cells"].push_back(to_json(c));
  return object;
}

findings findings_from(const json& object) {
  findings f;
  f.name = object.at("name");
  f.version = object.at("version");
  f.command = object.at("command");
  f.quick = object.at("quick");
  f.real_s = object.at("real_s");
  for (const auto& c : object.at("cells"))
    f.cells.push_back(cell_from(c));
  return f;
}

findings read_findings(const std::filesystem::path& file) {
  std::ifstream in{file};
  if (!in)
    throw error(errc::io, fmt::format("cannot read '{}'", file.string()), "gossamer reproduce NAME makes it");
  try {
    return findings_from(json::parse(in));
  } catch (const json::exception&) {
    throw error(errc::bad_data, fmt::format("'{}' is damaged, or no results file of a reproduction", file.string()),
                "remove it; gossamer reproduce NAME makes it again");
  }
}

std::string to_text(const estimate& e, int digits) {
  if (!std::isfinite(e.mean))
    return "-";
  auto text = fmt::format("{:.{}g}", e.mean, digits);
  constexpr double rounding = 1e-9;
  if (e.half_width && *e.half_width > rounding * std::abs(e.mean))
    text += fmt::format(" +- {:g}", std::stod(fmt::format("{:.1g}", *e.half_width))); // "50", where "5e+01" is no help
  return text;
}

} // namespace gossamer::apps
