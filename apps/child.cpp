#include "gossamer/apps/detail/child.hpp"

#include "gossamer/apps/detail/die_with.hpp"
#include "gossamer/apps/detail/node.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr int not_found = 127; // the status by which a shell says so
constexpr std::size_t longest_line = std::size_t{1} << 18;
constexpr std::size_t most_unread = std::size_t{1} << 20; // bytes that wait for a process to read them

/// Both ends of a pipe or socket pair, by number of the end; closed unless they are taken.
struct both_ends {
  std::array<int, 2> ends{-1, -1};

  bool open_pipe() { return pipe2(ends.data(), O_CLOEXEC) == 0; }
  /// A pipe without a reader would kill its writer with a signal; a socket does not.
  bool open_socket() { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0; }
  int take(std::size_t end) { return std::exchange(ends[end], -1); }
  ~both_ends() {
    for (const int end : ends)
      if (end >= 0)
        close(end);
  }
};

[[noreturn]] void become(const std::vector<std::string>& command, pid_t parent, int input, int output, int errors) {
  setpgid(0, 0);
  std::signal(SIGPIPE, SIG_DFL);
  die_with(parent);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const auto& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  std::fprintf(stderr, "%s: %s\n", words.front(), std::strerror(errno));
  _exit(not_found);
}

[[noreturn]] void refuse() {
  throw error(errc::io, fmt::format("cannot start a process: {}", std::strerror(errno)), "start fewer nodes here");
}

} // namespace

child::child(const std::vector<std::string>& command) {
  both_ends input, output, errors;
  if (!input.open_socket() || !output.open_pipe() || !errors.open_pipe())
    refuse();
  std::fflush(nullptr);
  const auto parent = getpid();
  id_ = fork();
  if (id_ == 0)
    become(command, parent, input.ends[0], output.ends[1], errors.ends[1]);
  if (id_ < 0)
    refuse();
  setpgid(id_, id_); // as the process itself does, which may not have come so far when it gets a signal
  input_ = input.take(1);
  streams_ = {stream{output.take(0)}, stream{errors.take(0)}};
  for (const int file : outputs())
    fcntl(file, F_SETFL, O_NONBLOCK);
}

void child::swap(child& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(input_, other.input_);
  std::swap(unread_, other.unread_);
  std::swap(streams_, other.streams_);
  std::swap(last_line_, other.last_line_);
  std::swap(status_, other.status_);
}

child::~child() {
  if (id_ > 0 && !status_) {
    kill(-id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  end_input();
  for (const int file : outputs())
    if (file >= 0)
      close(file);
}

bool child::read_lines(const line_taker& on_line) {
  write_unread();
  const bool output = read_from(streams_[0], false, on_line), errors = read_from(streams_[1], true, on_line);
  return output || errors;
}

bool child::read_from(stream& from, bool error, const line_taker& on_line) {
  if (from.file < 0)
    return false;
  std::array<char, 65536> bytes{};
  const auto count = read(from.file, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN))
    return false;
  auto& text = from.unfinished;
  if (count > 0)
    text.append(bytes.data(), static_cast<std::size_t>(count));
  const auto hand_on = [&](std::size_t end, std::size_t separator) {
    const std::string line = text.substr(0, end);
    text.erase(0, end + separator);
    const auto mark = error ? std::string::npos : line.find(announced_by);
    if (mark != 0) // else nobody is shown any of it
      last_line_ = line.substr(0, mark);
    on_line(error, line);
  };
  for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;)
    hand_on(end, 1);
  if (text.size() >= longest_line || (count <= 0 && !text.empty()))
    hand_on(text.size(), 0);
  if (count <= 0)
    close(std::exchange(from.file, -1));
  return true;
}

void child::end_input() {
  if (input_ >= 0)
    close(std::exchange(input_, -1));
}

bool child::write_line(const std::string& line) {
  if (unread_.size() + line.size() > most_unread)
    return false;
  unread_ += line + '\n';
  write_unread();
  return true;
}

void child::write_unread() {
  while (input_ >= 0 && !unread_.empty()) {
    const auto count = send(input_, unread_.data(), unread_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN)
      return;
    if (count < 0 && errno != EINTR)
      return unread_.clear(); // the process's end says more
    unread_.erase(0, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

void child::send_signal(int signal) const {
  if (id_ > 0 && !status_)
    kill(-id_, signal);
}

int child::wait() {
  while (!status_)
    look_for_end(0);
  return *status_;
}

std::optional<int> child::ended() {
  if (!status_)
    look_for_end(WNOHANG);
  return status_;
}

void child::look_for_end(int options) {
  int status = 0;
  const auto found = waitpid(id_, &status, options);
  if (found == id_)
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  else if (found < 0 && errno == ECHILD) // something else in this process has waited for it
    status_ = 1;
}

} // namespace gossamer::apps
