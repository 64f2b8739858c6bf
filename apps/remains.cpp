#include "gossamer/apps/detail/remains.hpp"

#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/apps/detail/launch_record.hpp"
#include "gossamer/apps/detail/setup.hpp"
#include "gossamer/compute/model_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace gossamer::apps {

namespace {

namespace fs = std::filesystem;

actors::run_folder open_survivor(const actors::survival& s) {
  try {
    return actors::run_folder{fs::path{s.folder} / "survivors" / fmt::format("node-{}", s.node), true};
  } catch (const error&) { // the folder is on the leader's machine, and cannot be made here
    return actors::run_folder{actors::run_folder::make_next("runs", fmt::format("survivor-{}", s.node)), true};
  }
}

std::optional<std::uint64_t> last_checkpoint(const remains& r) {
  try {
    return newest_checkpoint(r.folder, r.parts_elsewhere, [](const std::string&) {}).all.checkpoint;
  } catch (const error&) {
    return std::nullopt;
  }
}

/// Returns a free path beside the run's own folder, which stays as it is.
std::string folder_beside(const fs::path& run) {
  std::error_code ignored;
  for (int k = 2;; ++k)
    if (auto next = fmt::format("{}-{}", run.string(), k); !fs::exists(next, ignored))
      return next;
}

/// Writes the mean of the survivors' models. @returns the file that holds it
std::string write_mean_of(const program& p, const fs::path& run, const std::vector<std::string>& survivors) {
  auto settings = options_of(run.string()).run;
  settings.device = "cpu";
  const auto e = actors::prepare(std::move(settings), p.known());
  actors::resumption all;
  for (const auto& one : survivors)
    all.parts.merge(checkpoints_in(one).newest([](const std::string&) {}).parts);
  auto file = (run / "survivors" / "model.npz").string();
  compute::write_model(file, *e->host.model, evaluated_model(*e, all));
  return file;
}

} // namespace

fs::path keep_survivor(const actors::survival& s) {
  auto folder = open_survivor(s);
  run_options o;
  o.run = s.run->settings;
  folder.write("config.toml", write_config("gossamer train", train_options(), o) + last_line_of_config(*s.run));
  const auto saved = checkpoints_in(folder.path());
  auto all = s.left.all;
  for (const auto& [who, part] : s.left.parts)
    all.parts[who].digest = saved.save(part, all.workers);
  saved.complete(all);
  compute::write_model((folder.path() / "model.npz").string(), *s.run->host.model, evaluated_model(*s.run, s.left));
  return fs::absolute(folder.path());
}

std::string what_is_left(const remains& r) {
  std::vector<std::string> result;
  if (!r.folder.empty()) {
    const auto run = shown(r.folder);
    const auto checkpoint = last_checkpoint(r);
    result.push_back(checkpoint ? fmt::format("{0} has what was evaluated, and checkpoint {1}: go on with --resume {0}",
                                              run, *checkpoint)
                                : fmt::format("{} has what was evaluated, and no checkpoint, of which --checkpoint 30s "
                                              "saves some",
                                              run));
  }
  for (const auto& one : r.survivors)
    result.push_back(fmt::format("{0} has what one of its nodes had come to: go on with --resume {0}, or begin with "
                                 "--initial {0}/model.npz",
                                 shown(one)));
  return fmt::format("{}", fmt::join(result, "; "));
}

std::optional<second_beginning> beginning_after(const program& p, const remains& r, bool everybody_is_dead) {
  const auto& folder = r.folder;
  const auto& survivors = r.survivors;
  if (folder.empty())
    return std::nullopt;
  const auto next = folder_beside(folder);
  if (const auto checkpoint = last_checkpoint(r))
    return second_beginning{{"train", "--resume", folder.string(), "--out", next},
                            fmt::format("from checkpoint {} of {}, in {}", *checkpoint, shown(folder), shown(next))};
  if (survivors.empty() || !everybody_is_dead)
    return std::nullopt;
  const auto mean = write_mean_of(p, folder, survivors);
  return second_beginning{{"train", "--config", (folder / "config.toml").string(), "--initial", mean, "--out", next},
                          fmt::format("from the mean of what {} node{} of {} had come to, in {}", survivors.size(),
                                      survivors.size() == 1 ? "" : "s", shown(folder), shown(next))};
}

} // namespace gossamer::apps
