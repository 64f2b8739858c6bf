#include "gossamer/apps/detail/recorder.hpp"

#include "gossamer/actors/telemetry/comparison.hpp"
#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gossamer::apps {

actors::run_folder open_folder(const run_setup& run, const std::string& command, const std::vector<option>& table) {
  auto o = run.resolved();
  auto folder = o.out.empty() ? actors::run_folder::next_in("runs", run.experiment->algorithm->about.name)
                              : actors::run_folder{o.out, o.overwrite};
  o.chaos.reset(); // the plan itself is written down
  o.horizon_s.reset();
  o.faults.clear();
  try {
    if (run.plan.harms()) {
      o.faults = "faults.toml"; // beside the configuration
      folder.write(o.faults, to_toml(run.plan));
    }
    if (o.cost != "default" && o.cost != "none") { // kept beside the configuration: it may change where it was
      o.cost = "costs.toml";
      folder.write(o.cost, to_toml(run.options.world.cost));
    }
    folder.write("config.toml", write_config(command, table, o) + last_line_of_config(*run.experiment));
  } catch (...) {
    folder.discard(); // otherwise the next attempt would be refused because of a run that never was
    throw;
  }
  return folder;
}

void bring_metrics(const run_setup& run, actors::run_folder& into, const std::function<void(const std::string&)>& say) {
  if (!run.from)
    return;
  std::vector<actors::evaluation_record> before;
  try {
    before = actors::read_run(run.options.resume).evaluations;
  } catch (const error& e) { // the run may have been killed before it wrote any
    say(fmt::format("the metrics from before the checkpoint are left out: {}", e.what()));
  }
  for (const auto& r : before)
    if (r.step < run.from->all.updates()) // the one at the checkpoint itself is made again
      into.bring(r);
}

std::string names_of_files(const run_setup& run, const std::filesystem::path& folder,
                           const std::vector<std::string>& more) {
  std::vector<std::string> names{"config.toml"};
  if (run.plan.harms())
    names.emplace_back("faults.toml");
  names.insert(names.end(), {"metrics.jsonl", "summary.json", "plot.svg"});
  names.insert(names.end(), more.begin(), more.end());
  std::error_code none;
  std::erase_if(names, [&](const auto& name) { return !std::filesystem::exists(folder / name, none); });
  if (names.size() < 2)
    return fmt::format("{}", fmt::join(names, ""));
  const auto last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

void print_results(const feed_options& feeds, bool as_json, const std::string& json, const std::string& text) {
  if (!feeds.on_standard_output())
    return fmt::print("{}", as_json ? json + '\n' : text);
  if (!as_json)
    return fmt::print(stderr, "{}", text);
  nlohmann::ordered_json line{{"type", "summary"}};
  line.update(nlohmann::ordered_json::parse(json));
  fmt::print("{}\n", line.dump());
}

int exit_status(const actors::run_summary& s) {
  return s.end == actors::run_end::interrupted ? 128 + clean_stop::requested() : 0;
}

} // namespace gossamer::apps
