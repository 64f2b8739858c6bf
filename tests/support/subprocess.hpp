#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gossamer::support {

/// The status and output of a program that has ended.
struct outcome {
  int status = -1; ///< exit status; 128 + signal when a signal ended it, as shells count
  std::string out = {};
  std::string err = {};
};

/// A running program.
class subprocess {
public:
  /// @param command the program, looked for in PATH, and its arguments
  /// @param terminal both ends of a terminal, ours first, that standard error goes to; the program owns them from now
  /// on
  explicit subprocess(const std::vector<std::string>& command, std::array<int, 2> terminal = {-1, -1}) {
    std::vector<char*> argv;
    for (const auto& word : command)
      argv.push_back(const_cast<char*>(word.c_str())); // never written to, says POSIX
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    std::array<int, 2> write_ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      auto ends = terminal;
      if ((i == 0 || terminal[0] < 0) && pipe2(ends.data(), O_CLOEXEC) != 0)
        ADD_FAILURE() << "pipe: " << std::strerror(errno);
      read_ends_[i] = ends[0];
      write_ends[i] = ends[1];
      posix_spawn_file_actions_adddup2(&actions, ends[1], i == 0 ? STDOUT_FILENO : STDERR_FILENO);
    }
    const int problem = posix_spawnp(&id_, argv[0], &actions, nullptr, argv.data(), environ);
    if (problem != 0)
      ADD_FAILURE() << command.front() << ": " << std::strerror(problem);
    runs_ = problem == 0;
    posix_spawn_file_actions_destroy(&actions);
    for (const int end : write_ends)
      close(end);
  }

  subprocess(const subprocess&) = delete;
  subprocess& operator=(const subprocess&) = delete;
  /// Kills a program that a test leaves behind, because it has failed.
  ~subprocess() {
    if (runs_) {
      send_signal(SIGKILL);
      wait();
    }
    for (const int end : read_ends_)
      close(end);
  }

  /// Calls `what` once, as soon as a text has appeared on standard output or standard error.
  subprocess& when(std::string text, std::function<void(const outcome& so_far)> what) {
    const auto is_there = [text = std::move(text)](const outcome& so_far) {
      return (so_far.err + so_far.out).find(text) != std::string::npos;
    };
    return when(is_there, std::move(what));
  }
  /// Calls `what` once, as soon as a condition holds, such as that a file is there, of which no text tells.
  subprocess& when(std::function<bool(const outcome& so_far)> condition,
                   std::function<void(const outcome& so_far)> what) {
    awaited_.emplace_back(std::move(condition), std::move(what));
    return *this;
  }
  subprocess& signal_after(std::string text, int signal) {
    return when(std::move(text), [this, signal](const outcome&) { send_signal(signal); });
  }
  /// Calls `what` as soon as a text has appeared on standard error, behind that of the call before.
  subprocess& then(
      std::string text, std::function<void(const outcome& so_far)> what = [](const outcome&) {}) {
    in_order_.push_back({std::move(text), std::move(what)});
    return *this;
  }
  subprocess& then(std::string text, int signal) {
    return then(std::move(text), [this, signal](const outcome&) { send_signal(signal); });
  }

  /// Does nothing when the program has ended: another one may have its number.
  void send_signal(int signal) const {
    if (runs_)
      kill(id_, signal);
  }
  /// Stops the program, and waits until it stands still or has ended.
  void stop() const {
    siginfo_t news{};
    send_signal(SIGSTOP);
    if (runs_)
      waitid(P_PID, static_cast<id_t>(id_), &news, WSTOPPED | WEXITED | WNOWAIT);
  }

  /// Reads until the program has ended. It is killed if it has not after `patience`, so that no test hangs. That is a
  /// hundred times what it takes alone on an idle machine: a busy one is no reason to fail.
  outcome finish(std::chrono::seconds patience = std::chrono::seconds{120}) {
    constexpr int between_looks_ms = 10; // at conditions of which no text tells
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::size_t open = 2; open > 0;) {
      std::array<pollfd, 2> polled{{{read_ends_[0], POLLIN, 0}, {read_ends_[1], POLLIN, 0}}};
      poll(polled.data(), polled.size(), between_looks_ms);
      if (std::chrono::steady_clock::now() > deadline) { // also while it writes without a pause
        ADD_FAILURE() << "still runs after " << patience.count() << " s; killed. It wrote\n" << result_.err;
        send_signal(SIGKILL);
        break;
      }
      for (std::size_t i = 0; i < 2; ++i)
        if (polled[i].revents != 0 && !read_from(i))
          --open;
      look_for_awaited();
    }
    const int status = wait();
    result_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return std::move(result_);
  }

private:
  /// Waits for the end. @returns the status as the system counts it
  int wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    runs_ = false;
    return status;
  }

  /// @returns false at the end
  bool read_from(std::size_t i) {
    std::array<char, 4096> bytes{};
    const auto count = read(read_ends_[i], bytes.data(), bytes.size());
    if (count > 0) {
      (i == 0 ? result_.out : result_.err).append(bytes.data(), static_cast<std::size_t>(count));
      return true;
    }
    close(std::exchange(read_ends_[i], -1)); // poll ignores negative ones
    return false;
  }

  void look_for_awaited() {
    std::erase_if(awaited_, [this](const auto& one) {
      const bool holds = one.first(result_);
      if (holds)
        one.second(result_);
      return holds;
    });
    for (std::size_t at = 0; !in_order_.empty() && (at = result_.err.find(in_order_.front().text, seen_to_)) != npos;) {
      const auto now = std::move(in_order_.front());
      in_order_.pop_front();
      seen_to_ = at + now.text.size();
      now.act(result_);
    }
  }

  struct step {
    std::string text;
    std::function<void(const outcome&)> act;
  };
  static constexpr auto npos = std::string::npos;

  pid_t id_ = -1;
  std::atomic<bool> runs_ = false; // its number is its own
  std::array<int, 2> read_ends_{-1, -1};
  std::vector<std::pair<std::function<bool(const outcome&)>, std::function<void(const outcome&)>>> awaited_;
  std::deque<step> in_order_;
  std::size_t seen_to_ = 0; // the end of what the steps have found
  outcome result_;
};

} // namespace gossamer::support
