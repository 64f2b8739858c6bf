#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <unistd.h>

namespace gossamer::test {

/// A pipe without a name into which a thread writes a text, like a shell's <(...).
class filled_pipe {
public:
  explicit filled_pipe(std::string text) {
    EXPECT_EQ(pipe(ends_.data()), 0);
    writer_ = std::thread{[text = std::move(text), end = ends_[1]] {
      EXPECT_EQ(write(end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      close(end);
    }};
  }
  filled_pipe(const filled_pipe&) = delete;
  filled_pipe& operator=(const filled_pipe&) = delete;
  ~filled_pipe() {
    writer_.join();
    close(ends_[0]);
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

private:
  std::array<int, 2> ends_{};
  std::thread writer_;
};

} // namespace gossamer::test
