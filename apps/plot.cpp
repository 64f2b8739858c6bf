// gossamer plot: several runs in one picture.
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gossamer::apps {

void plot(const plot_options& options) {
  if (const auto ending = std::filesystem::path{options.out}.extension(); !ending.empty() && ending != ".svg")
    throw error(errc::usage, fmt::format("--out is '{}', and pictures are written as SVG only", options.out),
                "let the name end in .svg; browsers, Inkscape and rsvg-convert make other formats of it");
  std::vector<actors::recorded_run> runs;
  for (const auto& folder : options.runs)
    runs.push_back(actors::read_run(folder));
  write_text(options.out, actors::compare(runs, options.shown), "choose another file with --out");
  fmt::print("{} shows {} run{}\n", options.out, runs.size(), runs.size() == 1 ? "" : "s");
}

} // namespace gossamer::apps
