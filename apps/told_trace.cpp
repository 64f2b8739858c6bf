#include "gossamer/apps/detail/told_trace.hpp"

#include "gossamer/actors/telemetry/trace.hpp"
#include "gossamer/apps/detail/node.hpp"

#include <utility>
#include <vector>

namespace gossamer::apps {

namespace {

constexpr std::size_t most_in_a_line = 512; // 30 KB
constexpr std::int64_t longest_pause_ns = 200'000'000;
constexpr std::size_t most_lines_of_traces = 128; // 5 MB in memory

/// Moments on their way. Threads: one at a time.
class batches {
public:
  explicit batches(live_output& output) : output_(output) {}

  void take(const actors::trace_moment& m) {
    const bool is_over = m.what == actors::trace_moment::kind::over;
    if (!is_over && taken_++ >= actors::trace_recorder::default_limit) {
      ++left_out_;
      return;
    }
    waiting_.push_back(m);
    if (is_over)
      waiting_.back().value = left_out_;
    if (is_over || waiting_.size() >= most_in_a_line || m.at_ns - waiting_.front().at_ns > longest_pause_ns)
      hand_on();
  }

private:
  void hand_on() {
    const auto count = static_cast<std::int64_t>(waiting_.size());
    const auto text = [moments = std::exchange(waiting_, {})] { return actors::to_text(moments); };
    if (!output_.announce_later(trace_is, text, most_lines_of_traces))
      left_out_ += count;
  }

  live_output& output_;
  std::vector<actors::trace_moment> waiting_;
  std::size_t taken_ = 0;
  std::int64_t left_out_ = 0;
};

} // namespace

std::shared_ptr<actors::run_trace> told_trace(live_output& output) {
  return std::make_shared<actors::run_trace>(
      [all = std::make_shared<batches>(output)](const actors::trace_moment& m) { all->take(m); });
}

} // namespace gossamer::apps
