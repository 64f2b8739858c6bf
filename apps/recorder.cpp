#include "gossamer/apps/detail/recorder.hpp"

#include "gossamer/apps/detail/clean_stop.hpp"

namespace gossamer::apps {

actors::run_folder open_folder(const run_setup& run, const std::string& command, const std::vector<option>& table) {
  auto o = run.resolved();
  if (o.out.empty())
    o.out = actors::run_folder::make_next("runs", run.experiment->algorithm->about.name).string();
  actors::run_folder folder{o.out, o.overwrite};
  o.chaos.reset(); // its plan is written down
  o.horizon_s.reset();
  o.faults.clear();
  try {
    if (!run.plan.faults.empty()) {
      o.faults = "faults.toml"; // beside the configuration
      folder.write(o.faults, to_toml(run.plan));
    }
    folder.write("config.toml", write_config(command, table, o));
  } catch (...) {
    folder.discard(); // else the next try would be refused for the sake of a run that never was
    throw;
  }
  return folder;
}

int exit_status(const actors::run_summary& s) {
  return s.end == actors::run_end::interrupted ? 128 + clean_stop::requested() : 0;
}

} // namespace gossamer::apps
