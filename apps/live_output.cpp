#include "gossamer/apps/detail/live_output.hpp"

#include "gossamer/actors/telemetry/deferred_observer.hpp"
#include "gossamer/apps/detail/node.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

/// Hands the log on, line by line.
class line_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit line_sink(live_output::voice out) : out_(std::move(out)) {}

private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    out_(fmt::to_string(text));
  }
  void flush_() override {}

  live_output::voice out_;
};

std::string announced(std::string_view what, const std::string& line) {
  return fmt::format("{}{}{}\n", announced_by, what, line);
}

/// Waits for a thread for a limited time. Its failures are reported elsewhere.
bool is_done(actors::side_thread& thread) {
  try {
    return thread.finish_within(actors::longest_farewell);
  } catch (...) {
    return true;
  }
}

} // namespace

live_output::live_output(const program& p, live_output_settings s)
    : screen_(std::make_shared<actors::side_thread>()),
      announcements_(s.announces ? std::make_unique<actors::side_thread>() : nullptr),
      disk_(std::make_unique<actors::side_thread>()), lines_(std::make_shared<progress>(s.in_place)),
      shown_(std::make_shared<actors::deferred_observer>(*screen_, lines_)), log_before_(spdlog::default_logger()),
      live_(s.live), in_place_(s.in_place), elsewhere_(std::move(s.elsewhere)), has_results_(p.has_results()) {
  const auto show = [screen = screen_, lines = lines_](const std::string& text) {
    screen->offer([lines, text] { lines->say(text); }, actors::most_lines_waiting);
  };
  voice_ = [show, name = p.name()](const std::string& line) { show(fmt::format("{}: {}\n", name, line)); };
  auto log = std::make_shared<spdlog::logger>(log_before_->name(), std::make_shared<line_sink>(show));
  log->set_level(log_before_->level());
  spdlog::set_default_logger(std::move(log));
}

live_output::~live_output() {
  spdlog::set_default_logger(log_before_);
  close();
}

void live_output::announce(std::string_view what, const std::string& line) {
  if (announcements_)
    announcements_->post([text = announced(what, line)] { write_all(STDOUT_FILENO, text); });
}

void live_output::announce_lightly(std::string_view what, const std::string& line) {
  announce_later(
      what, [line] { return line; }, actors::most_progress_waiting);
}

bool live_output::announce_later(std::string_view what, std::function<std::string()> line, std::size_t most_waiting) {
  const auto write = [what = std::string{what}, line = std::move(line)] {
    write_all(STDOUT_FILENO, announced(what, line()));
  };
  return announcements_ != nullptr && announcements_->offer(write, most_waiting);
}

std::string live_output::close() {
  if (std::exchange(closed_, true))
    return "";
  is_done(*disk_);
  if (announcements_)
    is_done(*announcements_);
  screen_->post([lines = lines_] { lines->say(""); }); // takes the line of progress away
  if (!is_done(*screen_))
    return fmt::format("nobody has read standard error for {} s: the last lines are missing there",
                       actors::longest_farewell.count());
  if (const auto lines = screen_->left_out(); lines > 0) {
    say(fmt::format("{} line{} left out here, because nobody read them in time", lines, lines == 1 ? " is" : "s are"));
    is_done(*screen_);
  }
  return "";
}

} // namespace gossamer::apps
