#include "gossamer/apps/detail/launch_audience.hpp"

#include "gossamer/apps/detail/line_observer.hpp"
#include "gossamer/base/error.hpp"

namespace gossamer::apps {

launch_audience::launch_audience(const program& p, const launch_options& how, std::size_t nodes) {
  if (!how.trace.empty())
    trace_.emplace(how.trace, nodes);
  if (how.shown == ui::json)
    json_ = std::make_unique<json_lines>();
  if (!how.live.where.empty())
    page_.emplace(p, how.live, nodes);
}

void launch_audience::json_lines::write(const std::string& type, const std::string& line) {
  const auto task = [to = file, text = line + '\n'] { to->write(text); };
  const bool is_replaced = type == "progress" || type == "workers";
  try {
    is_replaced ? static_cast<void>(thread.offer(task, actors::most_progress_waiting)) : thread.post(task);
  } catch (const error&) { // NOLINT(bugprone-empty-catch): said at the end
  }
}

void launch_audience::hear(const std::string& type, const std::string& line) {
  if (page_)
    page_->hear(type, line);
  if (json_)
    json_->write(type, line);
}

void launch_audience::hear_trace(std::size_t node, const std::string& announced) {
  if (trace_)
    trace_->hear(node, announced);
}

void launch_audience::begin_again(const std::string& why) {
  if (page_)
    page_->tell(why);
  if (trace_)
    trace_->begin_again();
}

std::string launch_audience::end(const std::string& how) {
  if (page_)
    page_->end(how);
  if (json_)
    json_->write("end", last_line(how));
  auto about = trace_ ? trace_->write() : "";
  if (json_)
    json_->thread.finish_within(actors::longest_farewell);
  return about;
}

} // namespace gossamer::apps
