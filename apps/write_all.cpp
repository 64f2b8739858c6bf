#include "gossamer/apps/detail/write_all.hpp"

#include "gossamer/actors/telemetry/side_thread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) { // another process that shares this file has set it to non-blocking
      pollfd polled{file, POLLOUT, 0};
      poll(&polled, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void write_last_words(std::string_view text) noexcept {
  pollfd polled{STDERR_FILENO, POLLOUT, 0};
  if (poll(&polled, 1, static_cast<int>(std::chrono::milliseconds{actors::longest_farewell}.count())) != 0)
    write_all(STDERR_FILENO, text);
}

error lost_output(int number) {
  return {errc::io, fmt::format("cannot write to standard output: {}", std::strerror(number))};
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw lost_output(errno);
}

void open_closed_streams() noexcept {
  for (const auto& [number, mode] :
       {std::pair{STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}})
    if (fcntl(number, F_GETFD) < 0)
      open("/dev/null", mode); // the lowest number that is free
}

void allow_more_open_files() noexcept {
  constexpr rlim_t enough = 65'536; // programs that are started from here may look at each number
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= std::min(limit.rlim_max, enough))
    return;
  limit.rlim_cur = std::min(limit.rlim_max, enough);
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string words_of(const std::exception& e) {
  constexpr std::string_view limit = "ulimit -n";
  const std::string_view all = e.what();
  const auto lacks = [&](std::string_view what) { return all.find(what) == std::string_view::npos; };
  if (lacks(std::strerror(EMFILE)) || !lacks(limit))
    return std::string{all};
  const auto* own = dynamic_cast<const error*>(&e);
  return fmt::format("{}; raise the limit on open files ({})", own != nullptr ? std::string_view{own->sentence()} : all,
                     limit);
}

} // namespace gossamer::apps
