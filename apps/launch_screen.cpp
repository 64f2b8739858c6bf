#include "gossamer/apps/detail/launch_screen.hpp"

#include "gossamer/apps/detail/write_all.hpp"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

void launch_screen::show(const std::string& line) {
  const auto write = [live = live_, text = line + '\n'] {
    live->clear();
    write_all(STDERR_FILENO, text);
  };
  thread_.offer(write, actors::most_lines_waiting);
}

void launch_screen::show_progress(const std::string& line) {
  thread_.offer([live = live_, line] { live->show(line); }, actors::most_progress_waiting);
}

void launch_screen::close() {
  thread_.post([live = live_] { live->clear(); });
  thread_.finish_within(actors::longest_farewell);
  std::fputs(std::exchange(results_, "").c_str(), stdout);
  std::fflush(stdout);
}

} // namespace gossamer::apps
