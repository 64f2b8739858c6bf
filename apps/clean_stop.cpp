#include "gossamer/apps/detail/clean_stop.hpp"

#include "gossamer/apps/detail/program.hpp"
#include "gossamer/base/error.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace gossamer::apps {

namespace {

constexpr std::array heeded{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> requested_signal = 0;
std::atomic<bool> follows_input = false, heeds_signals = true;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

/// The lines of standard input. Threads: safe.
class input_lines {
public:
  void set_taker(std::function<void(const std::string&)> take) {
    const std::scoped_lock lock{mutex_};
    take_ = std::move(take);
  }
  /// Reads what is there. @returns whether the input has ended
  bool look() {
    const std::scoped_lock lock{mutex_};
    pollfd input{STDIN_FILENO, POLLIN, 0};
    for (char byte = 0; poll(&input, 1, 0) > 0;) {
      const auto count = read(STDIN_FILENO, &byte, 1);
      if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
        return true;
      if (count > 0)
        add(byte);
    }
    return false;
  }

private:
  static constexpr std::size_t longest_line = std::size_t{1} << 16;

  void add(char byte) {
    if (byte != '\n' && line_.size() < longest_line)
      line_ += byte;
    if (byte == '\n' && take_)
      take_(line_);
    if (byte == '\n')
      line_.clear();
  }

  std::mutex mutex_;
  std::string line_;
  std::function<void(const std::string&)> take_;
};

input_lines& input() {
  static input_lines all;
  return all;
}

/// True if the signal is ignored already: a run under nohup shall outlive its terminal.
bool shall_be_ignored(int signal) {
  struct sigaction now {};
  return signal == SIGHUP && sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

} // namespace

clean_stop::clean_stop() {
  if (!heeds_signals)
    return;
  for (const int signal : heeded)
    if (!shall_be_ignored(signal))
      std::signal(signal, [](int received) {
        requested_signal = received;
        std::signal(received, SIG_DFL);
      });
}

clean_stop::~clean_stop() {
  if (!heeds_signals)
    return;
  for (const int signal : heeded)
    if (!shall_be_ignored(signal))
      std::signal(signal, SIG_DFL);
}

clean_stop::without_signals::without_signals() {
  heeds_signals = false;
  requested_signal = 0;
}

clean_stop::without_signals::~without_signals() {
  heeds_signals = true;
  follows_input = false;
}

int clean_stop::requested() {
  if (requested_signal == 0 && follows_input && input().look())
    request();
  return requested_signal;
}

void clean_stop::request() noexcept { requested_signal = SIGINT; }

void clean_stop::on_line(std::function<void(const std::string&)> take) { input().set_taker(std::move(take)); }

void clean_stop::outlive_readers() noexcept {
  if (heeds_signals)
    std::signal(SIGPIPE, SIG_IGN);
}

void clean_stop::follow_input() noexcept {
  outlive_readers();
  follows_input = true;
}

int after_interrupt(const program& p, const error& e) {
  if (e.code() != errc::interrupted)
    throw e;
  p.say(e.what());
  return 128 + clean_stop::requested();
}

} // namespace gossamer::apps
