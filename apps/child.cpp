#include "gossamer/apps/detail/child.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr int not_found = 127; // as a shell says it

[[noreturn]] void become(const std::vector<std::string>& command, int input, int output, bool with_errors) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (input >= 0)
    dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  if (with_errors)
    dup2(output, STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const auto& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  std::fprintf(stderr, "%s: %s\n", words.front(), std::strerror(errno));
  _exit(not_found);
}

void close_open(int file) {
  if (file >= 0)
    close(file);
}

[[noreturn]] void refuse(int problem) {
  throw error(errc::io, fmt::format("cannot start a process: {}", std::strerror(problem)), "start fewer nodes here");
}

} // namespace

child::child(const std::vector<std::string>& command, bool with_errors, bool with_input) {
  std::array<int, 2> out{-1, -1}, in{-1, -1};
  // A socket, because a signal kills who writes into a pipe that nobody reads any more.
  const bool ready = pipe2(out.data(), O_CLOEXEC) == 0
                     && (!with_input || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) == 0);
  std::fflush(nullptr);
  id_ = ready ? fork() : -1;
  if (id_ == 0)
    become(command, in[0], out[1], with_errors);
  const int problem = errno;
  close_open(out[1]);
  close_open(in[0]);
  if (id_ < 0) {
    close_open(out[0]);
    close_open(in[1]);
    refuse(problem);
  }
  output_ = out[0];
  input_ = in[1];
}

void child::swap(child& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(output_, other.output_);
  std::swap(input_, other.input_);
  std::swap(unfinished_, other.unfinished_);
  std::swap(last_line_, other.last_line_);
  std::swap(status_, other.status_);
}

child::~child() {
  if (id_ > 0 && !status_) {
    kill(-id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  close_open(output_);
  close_open(input_);
}

bool child::read_lines(const std::function<void(const std::string&)>& on_line) {
  std::array<char, 65536> bytes{};
  const auto count = read(output_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR)
    return true;
  if (count > 0)
    unfinished_.append(bytes.data(), static_cast<std::size_t>(count));
  const auto hand_on = [&](std::size_t end) {
    last_line_ = unfinished_.substr(0, end);
    unfinished_.erase(0, end + 1);
    on_line(last_line_);
  };
  for (std::size_t end = 0; (end = unfinished_.find('\n')) != std::string::npos;)
    hand_on(end);
  if (count > 0)
    return true;
  if (!unfinished_.empty())
    hand_on(unfinished_.size());
  close(std::exchange(output_, -1));
  return false;
}

void child::write_line(const std::string& line) const {
  const auto whole = line + '\n';
  for (std::string_view rest = whole; !rest.empty();) {
    const auto count = send(input_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR)
      return; // its end says more
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

void child::send_signal(int signal) const {
  if (id_ > 0 && !status_)
    kill(-id_, signal);
}

std::optional<int> child::ended() {
  int status = 0;
  if (!status_ && waitpid(id_, &status, WNOHANG) == id_)
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

} // namespace gossamer::apps
