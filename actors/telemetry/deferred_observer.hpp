#pragma once

#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/actors/telemetry/side_thread.hpp"

namespace gossamer::actors {

/// Hands records on to another observer in a side thread, so that a run does not wait for its watcher. Evaluations,
/// events and views wait for as long as it takes. Records of progress and of workers, which the next one corrects, wait
/// up to `most_progress_waiting`; further ones are left out and counted. An exception of the inner observer is thrown
/// by the next call here.
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
  void on_event(const event_record& r) override {
    thread_.post([to = inner_, r] { to->on_event(r); });
  }
  bool watches_workers() const override { return inner_->watches_workers(); }
  void on_view(const view_record& r) override {
    thread_.post([to = inner_, r] { to->on_view(r); });
  }
  void on_workers(workers_record r) override {
    thread_.offer([to = inner_, r = std::move(r)] { to->on_workers(r); }, most_progress_waiting);
  }

private:
  side_thread& thread_;
  std::shared_ptr<run_observer> inner_;
};

} // namespace gossamer::actors
