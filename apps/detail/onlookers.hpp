#pragma once

#include "gossamer/actors/protocol/run_status.hpp"
#include "gossamer/apps/detail/line_history.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace gossamer::apps {

/// The lines of a run that this process leads, for those who look on from elsewhere (`gossamer watch HOST:PORT`).
/// Threads: any may call any member; none waits for an onlooker.
class onlookers {
public:
  void add(const std::string& type, std::string line) { lines_.add(type, std::move(line)); }
  /// As `actors::node_settings::read_lines`.
  void read(actors::run_lines& into);
  /// True if somebody has asked lately.
  bool are_there() const;

private:
  static constexpr std::size_t most_kept = 1000; // so that all that is kept makes no long message
  static constexpr double longest_pause_s = 10;

  line_history lines_{most_kept};
  mutable std::mutex mutex_;
  std::optional<stopwatch> since_asked_;
};

} // namespace gossamer::apps
