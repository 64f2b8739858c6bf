#include "gossamer/apps/detail/written_file.hpp"

#include "gossamer/apps/detail/write_all.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace gossamer::apps {

namespace {

constexpr mode_t for_the_umask = 0666;

/// Writes as `write_all`, and returns EPIPE without the signal that would end the process; 0 if all is written.
int written(int file, std::string_view piece) {
  sigset_t broken_pipe, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const int reason = write_all(file, piece) ? 0 : errno;
  if (reason == EPIPE) { // the signal waits for this thread
    const timespec at_once{};
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return reason;
}

} // namespace

written_file::written_file(std::filesystem::path file, std::string flag)
    : path_(std::move(file)), flag_(std::move(flag)),
      file_(path_ == "-" ? STDOUT_FILENO
                         : open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, for_the_umask)) {
  if (file_ < 0)
    refuse(errno);
}

written_file::~written_file() {
  if (file_ != STDOUT_FILENO)
    close(file_);
}

void written_file::write(std::string_view piece) {
  const int reason = has_reader_ ? written(file_, piece) : 0;
  has_reader_ = has_reader_ && reason != EPIPE;
  if (reason != 0 && reason != EPIPE)
    refuse(reason);
}

void written_file::refuse(int reason) const {
  throw error(errc::io,
              fmt::format("{}: cannot write to {}: {}", flag_, path_ == "-" ? "standard output" : path_.string(),
                          std::strerror(reason)),
              "check the path and the room there, or leave the flag out");
}

} // namespace gossamer::apps
