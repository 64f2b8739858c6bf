// gossamer plot: several runs in one picture.
#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/apps/detail/commands.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gossamer::apps {

namespace {

void write(const std::string& file, const std::string& text) {
  std::FILE* out = std::fopen(file.c_str(), "w");
  const bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  const int reason = errno;
  const bool closed = out != nullptr && std::fclose(out) == 0;
  if (!written || !closed)
    throw error(errc::io, fmt::format("cannot write {}: {}", file, std::strerror(written ? errno : reason)),
                "choose another file with --out");
}

} // namespace

void plot(const plot_options& options) {
  std::vector<actors::recorded_run> runs;
  for (const auto& folder : options.runs)
    runs.push_back(actors::read_run(folder));
  write(options.out, actors::compare(runs, options.x, options.y, options.logarithmic));
  fmt::print("{} shows {} run{}\n", options.out, runs.size(), runs.size() == 1 ? "" : "s");
}

} // namespace gossamer::apps
