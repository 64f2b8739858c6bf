#include "gossamer/apps/detail/launch_screen.hpp"

#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/apps/detail/terminal.hpp"
#include "gossamer/apps/detail/write_all.hpp"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

bool launch_screen::write(int file, const std::string& line) {
  const auto write = [live = live_, file, text = line + '\n'] {
    live->clear();
    write_all(file, text);
  };
  return thread_.offer(write, actors::most_lines_waiting);
}

void launch_screen::show(const std::string& line) { write(STDERR_FILENO, line); }

void launch_screen::renew(const std::string& type, const std::string& line) {
  if (type == "view")
    picture_.take(actors::view_from_json(line));
  if (type == "workers")
    picture_.take(actors::workers_from_json(line));
  if (type != "progress")
    return;
  picture_.take(actors::progress_from_json(line));
  thread_.offer([live = live_, lines = picture_.lines(shows_unicode())] { live->show(lines); },
                actors::most_progress_waiting);
}

void launch_screen::keep_result(const std::string& line) {
  if (shown_ == ui::json)
    show(line);
  else if (!at_once_ || !results_.empty() || !write(STDOUT_FILENO, line))
    results_ += line + '\n';
}

void launch_screen::close() {
  thread_.post([live = live_] { live->clear(); });
  thread_.finish_within(actors::longest_farewell);
  std::fputs(std::exchange(results_, "").c_str(), stdout);
  std::fflush(stdout);
}

} // namespace gossamer::apps
