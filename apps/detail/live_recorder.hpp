#pragma once

#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/actors/telemetry/run_folder.hpp"
#include "gossamer/apps/detail/live_output.hpp"

namespace gossamer::apps {

/// Shows a run in real time and writes it down, in the threads of a `live_output`: no call waits for a terminal or a
/// disk. An error of the disk is thrown by the next call.
class live_recorder final : public actors::run_observer {
public:
  /// Called once, in the thread of the disk, which may outlive the owner of this object.
  using opener = std::function<std::shared_ptr<actors::run_folder>()>;

  /// @param output must outlive this object
  live_recorder(live_output& output, opener open);

  void on_progress(const actors::progress_record& p) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;

  /// Waits until everything is in the folder, and closes it. @returns its path @error as `run_folder`
  std::filesystem::path finish(const actors::run_summary& summary);

private:
  class folder_on_disk;

  live_output& output_;
  std::shared_ptr<folder_on_disk> folder_;
  actors::deferred_observer kept_;
};

} // namespace gossamer::apps
