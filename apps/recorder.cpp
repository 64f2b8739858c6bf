#include "gossamer/apps/detail/recorder.hpp"

#include "gossamer/apps/detail/clean_stop.hpp"

namespace gossamer::apps {

actors::run_folder open_folder(const run_options& o, const std::string& command, const std::vector<option>& table,
                               const std::string& algorithm, const actors::fault_plan& plan) {
  actors::run_folder folder{o.out.empty() ? actors::run_folder::next_free("runs", algorithm).string() : o.out,
                            o.overwrite};
  auto repeatable = o;
  repeatable.chaos.reset(); // its plan is written down
  repeatable.horizon_s.reset();
  repeatable.faults.clear();
  if (!plan.faults.empty()) {
    folder.write("faults.toml", to_toml(plan));
    repeatable.faults = "faults.toml"; // beside the configuration
  }
  folder.write("config.toml", write_config(command, table, repeatable));
  return folder;
}

int exit_status(const actors::run_summary& s) {
  return s.end == actors::run_end::interrupted ? 128 + clean_stop::requested() : 0;
}

} // namespace gossamer::apps
