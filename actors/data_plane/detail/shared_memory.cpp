#include "gossamer/actors/data_plane/detail/shared_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gossamer::actors::detail {

namespace {

constexpr std::size_t ring_bytes = 1 << 20; // what is written is still in the cache when it is read
constexpr int never_resized = F_SEAL_SHRINK | F_SEAL_GROW;

} // namespace

struct shared_memory::layout {
  written_hello owner;
  ring_state states[2];
  std::array<std::byte, ring_bytes> rings[2];
};

std::unique_ptr<shared_memory> shared_memory::mapped(int file) {
  auto* const at = mmap(nullptr, sizeof(layout), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at != MAP_FAILED)
    return std::unique_ptr<shared_memory>{new shared_memory{file, static_cast<layout*>(at)}};
  close(file);
  return nullptr;
}

std::unique_ptr<shared_memory> shared_memory::make() {
  const int file = memfd_create("gossamer connection", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return nullptr;
  if (ftruncate(file, sizeof(layout)) == 0 && fcntl(file, F_ADD_SEALS, never_resized) == 0)
    return mapped(file);
  close(file);
  return nullptr;
}

std::unique_ptr<shared_memory> shared_memory::of(const hello& theirs) {
  const auto path = fmt::format("/proc/{}/fd/{}", theirs.memory.process, theirs.memory.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return nullptr;
  struct stat about {};
  if (const int seals = fcntl(file, F_GET_SEALS); seals < 0 || (seals & never_resized) != never_resized
                                                  || fstat(file, &about) != 0 || about.st_size != sizeof(layout)) {
    close(file);
    return nullptr;
  }
  auto found = mapped(file);
  return found && found->where_->owner == write(theirs) ? std::move(found) : nullptr;
}

shared_memory::~shared_memory() {
  munmap(where_, sizeof(layout));
  close(file_);
}

memory_place shared_memory::place() const noexcept {
  return {static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(file_)};
}

void shared_memory::belongs_to(const hello& mine) noexcept { where_->owner = write(mine); }

byte_ring shared_memory::to_opener() const noexcept { return {where_->states[0], where_->rings[0]}; }
byte_ring shared_memory::from_opener() const noexcept { return {where_->states[1], where_->rings[1]}; }

} // namespace gossamer::actors::detail
