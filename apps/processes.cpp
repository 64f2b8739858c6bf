#include "gossamer/apps/detail/processes.hpp"

#include "gossamer/apps/detail/die_with.hpp"
#include "gossamer/apps/detail/stopwatch.hpp"
#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gossamer::apps {

namespace {

constexpr char begin_of_result = '\x1E'; // behind anything that the work wrote to standard error

[[noreturn]] void refuse(const char* what) {
  throw error(errc::io, fmt::format("cannot {} a process: {}", what, std::strerror(errno)), "try fewer --jobs");
}

std::string last_line(std::string text) {
  while (text.ends_with('\n'))
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// A process under way; killed when it is destroyed.
class process {
public:
  process(std::size_t number, const std::function<std::string(std::size_t)>& work) : number_(number) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      refuse("talk to");
    std::fflush(nullptr);
    const auto parent = getpid();
    id_ = fork();
    if (id_ == 0)
      be(ends[1], parent, work);
    close(ends[1]);
    output_ = ends[0];
    if (id_ < 0) {
      close(output_);
      refuse("start");
    }
  }
  process(process&& other) noexcept
      : number_(other.number_), id_(std::exchange(other.id_, -1)), output_(std::exchange(other.output_, -1)),
        written_(std::move(other.written_)), age_(other.age_) {}
  process& operator=(process&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(id_, other.id_);
    std::swap(output_, other.output_);
    std::swap(written_, other.written_);
    std::swap(age_, other.age_);
    return *this;
  }
  ~process() {
    if (id_ > 0) {
      kill(id_, SIGKILL);
      wait();
    }
    if (output_ >= 0)
      close(output_);
  }

  std::size_t number() const noexcept { return number_; }
  int output() const noexcept { return output_; }
  double seconds() const { return age_.seconds(); }

  /// @returns false at the end of its output
  bool read_some() {
    std::array<char, 4096> bytes{};
    const auto count = read(output_, bytes.data(), bytes.size());
    if (count > 0)
      written_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  process_end end() {
    const int status = wait();
    const auto result = written_.find(begin_of_result);
    if (WIFEXITED(status) && result != std::string::npos)
      return {.returned = true, .text = written_.substr(result + 1)};
    const auto how = WIFSIGNALED(status) ? fmt::format("signal {} ({}) ended the process", WTERMSIG(status),
                                                       strsignal(WTERMSIG(status)))
                                         : fmt::format("the process ended with status {}", WEXITSTATUS(status));
    const auto said = last_line(written_);
    return {.text = said.empty() ? how : fmt::format("{}: {}", how, said)};
  }

private:
  [[noreturn]] void be(int output, pid_t parent, const std::function<std::string(std::size_t)>& work) const {
    die_with(parent);
    dup2(output, STDERR_FILENO);
    write_all(output, begin_of_result + work(number_));
    _exit(0);
  }

  int wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR)
      ;
    id_ = -1;
    return status;
  }

  std::size_t number_;
  pid_t id_ = -1;
  int output_ = -1;
  std::string written_;
  stopwatch age_;
};

/// Waits until one of them writes, or has taken too long, but briefly enough to notice an interrupt.
void wait_for_any(const std::vector<process>& running, double limit_s) {
  constexpr double look_every_s = 0.1;
  std::vector<pollfd> polled;
  double left_s = std::min(limit_s, look_every_s);
  for (const auto& p : running) {
    polled.push_back({p.output(), POLLIN, 0});
    left_s = std::min(left_s, limit_s - p.seconds());
  }
  poll(polled.data(), polled.size(), static_cast<int>(std::clamp(std::ceil(1000 * left_s), 0.0, 1e6)));
}

bool can_be_read(const process& p) {
  pollfd polled{p.output(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

} // namespace

void in_processes(std::size_t count, std::size_t jobs, double limit_s,
                  const std::function<std::string(std::size_t)>& work,
                  const std::function<bool(std::size_t, const process_end&)>& on_end,
                  const std::function<bool()>& stop) {
  std::vector<process> running;
  const auto ended = [&](const process& p, const process_end& how) {
    if (!on_end(p.number(), how))
      count = std::min(count, p.number());
  };
  for (std::size_t next = 0; (next < count || !running.empty()) && !stop();) {
    while (next < count && running.size() < jobs)
      running.emplace_back(next++, work);
    wait_for_any(running, limit_s);
    for (std::size_t i = 0; i < running.size();) {
      auto& p = running[i];
      if (can_be_read(p) && !p.read_some())
        ended(p, p.end());
      else if (p.seconds() < limit_s) {
        ++i;
        continue;
      } else
        ended(p, {.too_long = true, .text = fmt::format("still ran after {} real seconds", limit_s)});
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::erase_if(running, [&](const process& p) { return p.number() > count; });
  }
}

} // namespace gossamer::apps
