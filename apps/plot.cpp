// gossamer plot: several runs in one picture.
#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

namespace gossamer::apps {

void plot(const plot_options& options) {
  std::vector<actors::recorded_run> runs;
  for (const auto& folder : options.runs)
    runs.push_back(actors::read_run(folder));
  write_text(options.out, actors::compare(runs, options.x, options.y, options.logarithmic),
             "choose another file with --out");
  fmt::print("{} shows {} run{}\n", options.out, runs.size(), runs.size() == 1 ? "" : "s");
}

} // namespace gossamer::apps
