#pragma once

#include "gossamer/actors/telemetry/record.hpp"

#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

namespace gossamer::apps {

/// Holds a simulation back, as somebody wants who watches it. The simulation waits in `on_progress`, which it calls
/// every tenth of a virtual second. Threads: the simulation calls that; any may call the others.
class pace final : public actors::run_observer {
public:
  static constexpr double as_fast_as_it_can = std::numeric_limits<double>::infinity();

  /// @param interrupted asked several times a second while the simulation is held; true lets it go on
  explicit pace(std::function<bool()> interrupted) : interrupted_(std::move(interrupted)) {}

  void on_progress(const actors::progress_record& r) override;

  void hold();
  /// Lets a held simulation go on to its next tenth of a second.
  void step();
  /// @param seconds_per_second virtual seconds in a real one, above 0; a held simulation goes on
  void go_on(double seconds_per_second = as_fast_as_it_can);

private:
  void wait(std::unique_lock<std::mutex>& lock, double seconds);

  std::function<bool()> interrupted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::uint64_t steps_ = 0;
  double speed_ = as_fast_as_it_can;
  double last_s_ = 0;
};

} // namespace gossamer::apps
