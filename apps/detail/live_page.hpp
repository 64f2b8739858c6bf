#pragma once

#include "gossamer/actors/faults/wishes.hpp"
#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/apps/detail/pace.hpp"
#include "gossamer/apps/detail/page_server.hpp"
#include "gossamer/apps/detail/setup.hpp"

namespace gossamer::apps {

/// A run as lines of JSON in a `line_history`. Threads: as `run_observer`.
class line_observer final : public actors::run_observer {
public:
  explicit line_observer(std::shared_ptr<line_history> lines) : lines_(std::move(lines)) {}

  void on_progress(const actors::progress_record& r) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;
  bool watches_workers() const override { return true; }
  void on_view(const actors::view_record& r) override;
  void on_workers(actors::workers_record r) override;

private:
  std::shared_ptr<line_history> lines_;
};

/// The live page of a run, from its beginning until this object ends. Nothing that the page or a browser does holds up
/// the run.
class live_page {
public:
  /// @param command that is running: "gossamer train"
  /// @param held the simulation that the page may hold; null: none
  /// @error as `page_server`
  live_page(const live_options& wanted, const run_setup& run, const std::string& command,
            std::shared_ptr<pace> held = nullptr);

  /// To be told of the run.
  const std::shared_ptr<actors::run_observer>& observer() const noexcept { return observer_; }
  std::string url() const { return server_.url(true); }
  /// Faults that the page asks for; null if it has no buttons.
  const std::shared_ptr<actors::fault_wishes>& wishes() const noexcept { return wishes_; }
  /// Shows that the run has ended.
  void end(const actors::run_summary& summary);

private:
  std::shared_ptr<line_history> lines_ = std::make_shared<line_history>();
  std::shared_ptr<actors::fault_wishes> wishes_;
  actors::side_thread thread_;
  std::shared_ptr<actors::run_observer> observer_;
  page_server server_;
};

/// Opens the page that is wanted, and says where it is; null if none is wanted.
/// @param say takes lines for people, without the newline
std::unique_ptr<live_page> open_page(const live_options& wanted, const run_setup& run, const std::string& command,
                                     const std::function<void(const std::string&)>& say,
                                     std::shared_ptr<pace> held = nullptr);

} // namespace gossamer::apps
