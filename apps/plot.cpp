// gossamer plot: several runs in one picture.
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/apps/detail/png.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

namespace gossamer::apps {

void plot(const plot_options& options) {
  const auto ending = std::filesystem::path{options.out}.extension();
  if (!ending.empty() && ending != ".svg" && ending != ".png")
    throw error(errc::usage, fmt::format("--out is '{}', and pictures are SVG or PNG", options.out),
                "let the name end in .svg or .png");
  std::vector<actors::recorded_run> runs;
  for (const auto& folder : options.runs)
    runs.push_back(actors::read_run(folder));
  const auto picture = actors::compare(runs, options.shown);
  const auto written = ending == ".png" ? png_of(picture) : picture;
  replace_durably(options.out, std::as_bytes(std::span{written}), "choose another file with --out");
  fmt::print("{} shows {} run{}\n", options.out, runs.size(), runs.size() == 1 ? "" : "s");
}

} // namespace gossamer::apps
