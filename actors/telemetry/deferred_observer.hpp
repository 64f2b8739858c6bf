#pragma once

#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/actors/telemetry/side_thread.hpp"

namespace gossamer::actors {

/// Hands records on to another observer in a side thread, so that a run does not wait for its watcher. Evaluations and
/// events wait for as long as it takes: about 100 bytes each. Progress records, which the next one corrects, wait up to
/// `most_progress_waiting`; further ones are left out and counted. An exception of the inner observer is thrown by the
/// next call here.
class deferred_observer final : public run_observer {
public:
  /// @param thread outlives this object
  deferred_observer(side_thread& thread, std::shared_ptr<run_observer> inner)
      : thread_(thread), inner_(std::move(inner)) {}

  void on_progress(const progress_record& p) override {
    thread_.offer([to = inner_, p] { to->on_progress(p); }, most_progress_waiting);
  }
  void on_evaluation(const evaluation_record& r) override {
    thread_.post([to = inner_, r] { to->on_evaluation(r); });
  }
  void on_event(double time_s, const std::string& what) override {
    thread_.post([to = inner_, time_s, what] { to->on_event(time_s, what); });
  }

private:
  side_thread& thread_;
  std::shared_ptr<run_observer> inner_;
};

} // namespace gossamer::actors
