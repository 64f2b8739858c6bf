#include "gossamer/apps/detail/write_all.hpp"

#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <unistd.h>

namespace gossamer::apps {

void write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) { // somebody else who has this file wants it so
      pollfd polled{file, POLLOUT, 0};
      poll(&polled, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

} // namespace gossamer::apps
