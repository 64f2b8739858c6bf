// gossamer report: a page about runs.
#include "gossamer/apps/detail/report.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <span>

namespace gossamer::apps {

void report(const report_options& o) {
  require_reports();
  if (const auto ending = std::filesystem::path{o.out}.extension(); ending != ".html" && ending != ".htm")
    throw error(errc::usage, fmt::format("--out is '{}', and a report is a page", o.out), "let the name end in .html");
  const auto page = report_of(o.runs);
  replace_durably(o.out, std::as_bytes(std::span{page}), "choose another file with --out");
  fmt::print("{} shows {} run{}\n", o.out, o.runs.size(), o.runs.size() == 1 ? "" : "s");
}

std::vector<std::string> report_into(const std::filesystem::path& run,
                                     const std::function<void(const std::string&)>& say) {
  const auto file = (run / "report.html").string();
  try {
    const auto page = report_of({run.string()});
    if (const int reason = replace_by_renaming(file, file + ".part", std::as_bytes(std::span{page}), false))
      throw error(errc::io, fmt::format("cannot write {}: {}", file, std::strerror(reason)));
  } catch (const error& e) {
    say(fmt::format("there is no report.html: {}", e.what()));
    return {};
  }
  return {"report.html"};
}

} // namespace gossamer::apps
