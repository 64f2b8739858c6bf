#pragma once

#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/apps/detail/progress.hpp"
#include "gossamer/apps/detail/setup.hpp"

#include <functional>

namespace gossamer::apps {

/// Shows a run and writes it down.
class recorder final : public actors::run_observer {
public:
  /// @param workers of the run @param in_place as in `progress`
  recorder(actors::run_folder& folder, std::size_t workers, bool in_place)
      : folder_(folder), shown_(in_place), shows_workers_(progress::shows_each_of(workers, in_place)) {}
  void on_progress(const actors::progress_record& p) override {
    folder_.on_progress(p);
    shown_.on_progress(p);
  }
  void on_evaluation(const actors::evaluation_record& r) override {
    folder_.on_evaluation(r);
    shown_.on_evaluation(r);
  }
  void on_event(const actors::event_record& r) override {
    folder_.on_event(r);
    shown_.on_event(r);
  }
  bool watches_workers() const override { return shows_workers_; }
  void on_view(const actors::view_record& r) override { shown_.on_view(r); }
  void on_workers(actors::workers_record r) override { shown_.on_workers(std::move(r)); }

private:
  actors::run_folder& folder_;
  progress shown_;
  bool shows_workers_;
};

/// Opens the run folder of a run and writes config.toml, and faults.toml if there are any.
/// @param command command that repeats the run: "gossamer train"
actors::run_folder open_folder(const run_setup& run, const std::string& command, const std::vector<option>& table);

/// Copies the metrics of a resumed run, up to its checkpoint, to the beginning of this folder's.
void bring_metrics(const run_setup& run, actors::run_folder& into, const std::function<void(const std::string&)>& say);

/// Names the files of a run that has ended, for people.
/// @param folder has all of them, unless it was moved or removed meanwhile
/// @param more names of files that not every run has
std::string names_of_files(const run_setup& run, const std::filesystem::path& folder,
                           const std::vector<std::string>& more);

/// Prints the results of a run to standard output, as JSON or for people. Where lines of JSON go there, nothing else
/// does: JSON becomes a line of type "summary", and people read standard error.
void print_results(const feed_options& feeds, bool as_json, const std::string& json, const std::string& text);

/// 0, or 128 + signal as a shell reports a program that a signal ended.
int exit_status(const actors::run_summary& s);

} // namespace gossamer::apps
