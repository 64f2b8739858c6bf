#pragma once

#include <unistd.h>
#include <utility>

namespace gossamer::actors::detail {

/// Owns a file descriptor of the system, or none.
class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int file) noexcept : file_(file) {}
  descriptor(descriptor&& other) noexcept : file_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~descriptor() {
    if (file_ >= 0)
      close(file_);
  }

  explicit operator bool() const noexcept { return file_ >= 0; }
  int get() const noexcept { return file_; }
  int release() noexcept { return std::exchange(file_, -1); }

private:
  int file_ = -1;
};

} // namespace gossamer::actors::detail
