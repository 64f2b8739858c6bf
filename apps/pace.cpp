#include "gossamer/apps/detail/pace.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gossamer::apps {

namespace {
using steady = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(200);
constexpr double longest_wait_s = 3600;
} // namespace

void pace::on_progress(const actors::progress_record& r) {
  std::unique_lock lock{mutex_};
  const auto passed_s = std::max(0.0, r.time_s - std::exchange(last_s_, r.time_s));
  if (!held_ && speed_ != as_fast_as_it_can)
    wait(lock, passed_s / speed_);
  while (held_ && steps_ == 0 && !interrupted_())
    changed_.wait_for(lock, between_looks);
  if (held_ && steps_ > 0)
    --steps_;
}

/// Waits so long, unless the pace changes.
void pace::wait(std::unique_lock<std::mutex>& lock, double seconds) {
  const auto until = steady::now() + std::chrono::duration<double>(std::min(seconds, longest_wait_s));
  const auto speed = speed_;
  while (!held_ && speed_ == speed && !interrupted_() && steady::now() < until)
    changed_.wait_until(lock,
                        std::min(steady::now() + between_looks, std::chrono::time_point_cast<steady::duration>(until)));
}

void pace::hold() {
  const std::scoped_lock lock{mutex_};
  held_ = true;
  changed_.notify_all();
}

void pace::step() {
  const std::scoped_lock lock{mutex_};
  ++steps_;
  changed_.notify_all();
}

void pace::go_on(double seconds_per_second) {
  const std::scoped_lock lock{mutex_};
  held_ = false;
  steps_ = 0;
  speed_ = seconds_per_second;
  changed_.notify_all();
}

} // namespace gossamer::apps
