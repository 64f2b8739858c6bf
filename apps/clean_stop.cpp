#include "gossamer/apps/detail/clean_stop.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <poll.h>
#include <unistd.h>

namespace gossamer::apps {

namespace {

std::atomic<int> requested_signal = 0;
std::atomic<bool> follows_input = false;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

bool input_has_ended() noexcept {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  for (char byte = 0; poll(&input, 1, 0) > 0;) {
    const auto count = read(STDIN_FILENO, &byte, 1);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
      return true;
  }
  return false;
}

} // namespace

clean_stop::clean_stop() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int received) {
      requested_signal = received;
      std::signal(received, SIG_DFL);
    });
}

clean_stop::~clean_stop() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
}

int clean_stop::requested() noexcept {
  if (requested_signal == 0 && follows_input && input_has_ended())
    request();
  return requested_signal;
}

void clean_stop::request() noexcept { requested_signal = SIGINT; }

void clean_stop::follow_input() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  follows_input = true;
}

} // namespace gossamer::apps
