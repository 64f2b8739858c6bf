#pragma once

#include "gossamer/actors/run/run_settings.hpp"
#include "gossamer/actors/telemetry/record.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gossamer::apps {

/// A run as lines of JSON (docs/watching.md), for a `line_history`, here or in another process.
/// Threads: as `run_observer`.
class line_observer final : public actors::run_observer {
public:
  using taker = std::function<void(const std::string& type, std::string line)>;

  explicit line_observer(taker take) : take_(std::move(take)) {}

  void on_progress(const actors::progress_record& r) override;
  void on_evaluation(const actors::evaluation_record& r) override;
  void on_event(const actors::event_record& r) override;
  bool watches_workers() const override { return true; }
  void on_view(const actors::view_record& r) override;
  void on_workers(actors::workers_record r) override;

private:
  taker take_;
};

/// The type of an event's line, for a `line_history`, which counts the lines of each type.
std::string event_type(std::string_view kind);

/// The abilities of a page beside looking on.
struct page_abilities {
  bool faults = false;    ///< it strikes workers and links
  bool holds = false;     ///< it holds a simulation
  bool processes = false; ///< it kills and stops processes
};

/// The first line of a run: what it is. @param command that is running: "gossamer train"
std::string first_line(const actors::run_settings& s, const std::string& command, const page_abilities& can = {});
/// The last line of a run. @param how it has ended, for people
std::string last_line(const std::string& how);

} // namespace gossamer::apps
