#include "gossamer/apps/detail/departure.hpp"

#include "gossamer/apps/detail/clean_stop.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

departure::departure() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw error(errc::io, fmt::format("cannot leave the terminal: {}", std::strerror(errno)),
                "launch without --detach");
  std::fflush(nullptr);
  other_ = fork();
  const auto mine = other_ == 0 ? 1U : 0U;
  close(ends[1 - mine]);
  pipe_ = ends[mine];
  if (other_ < 0)
    throw error(errc::io, fmt::format("cannot leave the terminal: {}", std::strerror(errno)),
                "launch without --detach");
  if (other_ > 0)
    return;
  setsid();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  close(nothing);
}

departure::~departure() {
  if (pipe_ >= 0)
    close(pipe_);
}

int departure::wait() {
  const clean_stop stop;
  std::string words;
  bool passed_on = false;
  constexpr int look_every_ms = 100;
  for (ssize_t count = 1; count != 0;) {
    if (clean_stop::is_requested() && !std::exchange(passed_on, true))
      kill(other_, SIGINT);
    pollfd polled{pipe_, POLLIN, 0};
    if (poll(&polled, 1, look_every_ms) <= 0)
      continue;
    std::array<char, 4096> bytes{};
    count = read(pipe_, bytes.data(), bytes.size());
    if (count > 0)
      words.append(bytes.data(), static_cast<std::size_t>(count));
  }
  if (!words.empty())
    return std::fputs(words.c_str(), stdout), 0;
  int status = 0;
  while (waitpid(other_, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void departure::leave(const std::string& words) {
  std::signal(SIGPIPE, SIG_IGN); // the old process may be gone
  [[maybe_unused]] const auto written = write(pipe_, words.data(), words.size());
  close(std::exchange(pipe_, -1));
}

} // namespace gossamer::apps
