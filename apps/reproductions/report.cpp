#include "gossamer/apps/reproductions/detail/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::apps {

namespace {

/// Returns "0.123 +- 0.004", of the seeds that did not diverge, and how many did.
std::string estimate_text(const findings& f, const measure& m, const cell& c) {
  const auto all = f.values(m.name, c.method, c.setting).size();
  if (c.diverged.size() == all)
    return "diverged";
  auto text = to_text(f.estimate_of(m.name, c.method, c.setting), m.digits);
  if (!c.diverged.empty())
    text += fmt::format(", {} of {} diverged", c.diverged.size(), all);
  return text;
}

/// Returns "0.123 +- 0.004 (paper: 0.1)".
std::string entry(const reproduction& r, const findings& f, const measure& m, const variant& method,
                  const variant& setting) {
  auto text = estimate_text(f, m, f.at(method.name, setting.name));
  for (const auto& p : r.numbers)
    if (p.measure == m.name && p.method == method.name && p.setting == setting.name)
      text += fmt::format(" (paper: {})", p.text);
  return text;
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& cell : cells)
    line += fmt::format(" {} |", cell);
  return line + '\n';
}

std::string rule_below(std::size_t columns) {
  std::string line = "|";
  for (std::size_t i = 0; i < columns; ++i)
    line += "---|";
  return line + '\n';
}

std::string rate_text(const cell& c) {
  return c.rate ? fmt::format("{:g}{}", *c.rate, c.at_edge ? " (edge)" : "") : "";
}

/// Returns a table with a line for each method, and a column for each measure.
std::string table_of_methods(const reproduction& r, const findings& f) {
  std::vector<std::string> head{"method"};
  for (const auto& m : r.measures)
    head.push_back(m.name);
  if (!r.rates.empty())
    head.emplace_back("rate");
  auto text = table_row(head) + rule_below(head.size());
  for (const auto& method : r.methods) {
    std::vector<std::string> line{method.name};
    for (const auto& m : r.measures)
      line.push_back(entry(r, f, m, method, r.settings.front()));
    if (!r.rates.empty())
      line.push_back(rate_text(f.at(method.name, r.settings.front().name)));
    text += table_row(line);
  }
  return text;
}

/// Returns a table with a line for each setting, and a column for each method.
std::string table_of_settings(const reproduction& r, std::string_view title,
                              const std::function<std::string(const variant&, const variant&)>& entry_of) {
  std::vector<std::string> head{std::string{title}};
  for (const auto& method : r.methods)
    head.push_back(method.name);
  auto text = table_row(head) + rule_below(head.size());
  for (const auto& setting : r.settings) {
    std::vector<std::string> line{setting.name};
    for (const auto& method : r.methods)
      line.push_back(entry_of(method, setting));
    text += table_row(line);
  }
  return text + '\n';
}

std::string tables(const reproduction& r, const findings& f) {
  if (r.settings.size() == 1)
    return table_of_methods(r, f) + '\n';
  std::string text;
  for (const auto& m : r.measures)
    text += table_of_settings(
        r, m.name, [&](const variant& method, const variant& setting) { return entry(r, f, m, method, setting); });
  if (r.rates.size() > 1)
    text += table_of_settings(r, "rate", [&](const variant& method, const variant& setting) {
      return rate_text(f.at(method.name, setting.name));
    });
  return text;
}

/// Returns a paragraph in lines that are not too long to read as text.
std::string wrapped(std::string_view words) {
  constexpr std::size_t most = 120;
  std::string text;
  std::size_t begin_of_line = 0;
  while (!words.empty()) {
    const auto word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    if (text.size() > begin_of_line && text.size() + 1 + word.size() - begin_of_line > most) {
      text += '\n';
      begin_of_line = text.size();
    } else if (text.size() > begin_of_line)
      text += ' ';
    text += word;
  }
  return text;
}

std::string rule_of(const reproduction& r) {
  auto seeds = r.seeds == 1 ? std::string{"One seed, on which the claims are judged."}
                            : fmt::format("Means of {} seeds, with half the width of their 95 % interval.", r.seeds);
  if (r.rates.size() < 2)
    return seeds;
  std::string rates;
  for (const double rate : r.rates)
    rates += fmt::format("{}{:g}", rates.empty() ? "" : ", ", rate);
  return fmt::format("{} Every method had, in every setting, the best of the rates {} by {}.", seeds, rates,
                     r.quality.name);
}

std::string verdict_on(const judged_shape& s) {
  if (!s.undecidable.empty())
    return "cannot be decided here";
  return s.found.holds ? "yes" : "**no**";
}

std::string claims(const reproduction& r, const findings& f) {
  std::string text;
  if (!r.changes.empty())
    text += wrapped("Chosen after a run in full had been seen, and marked with * below: " + r.changes) + "\n\n";
  text += "| what must come back | did it | seen |\n|---|---|---|\n";
  for (const auto& s : judge(r, f))
    text +=
        table_row({s.claim + (s.changed ? " *" : ""), verdict_on(s),
                   s.undecidable.empty() ? s.found.evidence : fmt::format("{} ({})", s.undecidable, s.found.evidence)});
  return text;
}

} // namespace

std::vector<judged_shape> judge(const reproduction& r, const findings& f) {
  std::vector<judged_shape> all;
  for (const auto& s : r.shapes)
    all.push_back({s.claim, s.judge(f), s.undecidable, s.changed});
  return all;
}

std::string markdown(const reproduction& r, const findings& f, const std::vector<std::string>& pictures) {
  auto text = fmt::format("## {}\n\n{}\n\n{}\n\n{}\n\n", r.name, wrapped(r.title + '.'), wrapped(r.reference + '.'),
                          wrapped(r.differences));
  text += wrapped(fmt::format("`{}` ({:.0f} s of one processor). {}", f.command, f.real_s, rule_of(r))) + "\n\n"
          + tables(r, f);
  for (const auto& picture : pictures)
    text += fmt::format("![{}]({})\n\n", r.name, picture);
  return text + claims(r, f);
}

std::string csv(const findings& f) {
  std::string text = "method,setting,rate,measure,seed,value\n";
  for (const auto& c : f.cells)
    for (const auto& [name, values] : c.values)
      for (std::size_t i = 0; i < values.size(); ++i)
        text += fmt::format("\"{}\",\"{}\",{},\"{}\",{},{}\n", c.method, c.setting,
                            c.rate ? fmt::format("{}", *c.rate) : "", name, i + 1,
                            std::isfinite(values[i]) && !c.diverged_with(i + 1) ? fmt::format("{}", values[i]) : "");
  return text;
}

} // namespace gossamer::apps
