#include "gossamer/apps/detail/clean_stop.hpp"

#include <initializer_list>

namespace gossamer::apps {

namespace {

volatile std::sig_atomic_t request = 0;

} // namespace

clean_stop::clean_stop() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int received) {
      request = received;
      std::signal(received, SIG_DFL);
    });
}

clean_stop::~clean_stop() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, SIG_DFL);
}

int clean_stop::requested() noexcept { return request; }

} // namespace gossamer::apps
