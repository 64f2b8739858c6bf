#pragma once

#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/apps/detail/live_output.hpp"

#include <optional>

namespace gossamer::apps {

/// Shows a run in real time and writes it down, in the threads of a `live_output`: no call waits for a terminal or a
/// disk. An error of the disk is thrown by the next call.
class live_recorder final : public actors::run_observer {
public:
  /// Called once, in the thread of the disk, which may outlive the owner of this object.
  using opener = std::function<std::shared_ptr<actors::run_folder>()>;

  /// @param output must outlive this object
  /// @param workers of the run, which a terminal shows if they are few; 0: it does not
  live_recorder(live_output& output, opener open, std::size_t workers = 0);

  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;
  bool watches_workers() const override;
  void on_view(const actors::view_record& r) override;
  void on_workers(actors::workers_record r) override;
  /// Tells the folder that the run has begun.
  void begin();
  /// Writes on where another process has written since: see `run_folder::take_back`.
  void take_back();
  /// Tells those who look on from elsewhere what the run is. @param can for the program that has started this one
  void introduce(const actors::run_settings& s, const std::string& command, const page_abilities& can);

  /// Waits until everything is in the folder, and closes it. @returns its path @error as `run_folder`
  std::filesystem::path finish(const actors::run_summary& summary);

private:
  class folder_on_disk;

  live_output& output_;
  std::shared_ptr<folder_on_disk> folder_;
  actors::deferred_observer kept_;
  bool shows_workers_;
  std::optional<line_observer> lines_; // for live pages elsewhere
};

} // namespace gossamer::apps
