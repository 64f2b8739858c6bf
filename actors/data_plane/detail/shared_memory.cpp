#include "gossamer/actors/data_plane/detail/shared_memory.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace gossamer::actors::detail {

namespace {

constexpr std::size_t ring_bytes = 1 << 20; // small: bytes are still in the cache when they are read
constexpr int never_resized = F_SEAL_SHRINK | F_SEAL_GROW;

/// Opens a file that another process has open.
descriptor opened(std::uint32_t process, std::uint32_t file, int how) {
  return descriptor{open(fmt::format("/proc/{}/fd/{}", process, file).c_str(), how | O_CLOEXEC | O_NONBLOCK)};
}

bool is_pipe(const descriptor& file) {
  struct stat about {};
  return file && fstat(file.get(), &about) == 0 && S_ISFIFO(about.st_mode);
}

} // namespace

struct shared_memory::layout {
  written_hello owner;
  std::array<std::uint32_t, 2> pipes; ///< files of the owner, for the peer to read and to write
  std::array<ring_state, 2> states;   ///< from the owner, to the owner
  std::array<std::array<std::byte, ring_bytes>, 2> rings;
};

std::unique_ptr<shared_memory> shared_memory::mapped(descriptor file, bool is_mine) {
  auto* const at = mmap(nullptr, sizeof(layout), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED)
    return nullptr;
  return std::unique_ptr<shared_memory>{new shared_memory{std::move(file), static_cast<layout*>(at), is_mine}};
}

std::unique_ptr<shared_memory> shared_memory::make() {
  descriptor file{memfd_create("gossamer connection", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file || ftruncate(file.get(), sizeof(layout)) != 0 || fcntl(file.get(), F_ADD_SEALS, never_resized) != 0)
    return nullptr;
  auto made = mapped(std::move(file), true);
  return made && made->make_pipes() ? std::move(made) : nullptr;
}

std::unique_ptr<shared_memory> shared_memory::of(const hello& theirs) {
  const auto [process, number] = theirs.memory;
  auto file = opened(process, number, O_RDWR);
  struct stat about {};
  if (const int seals = file ? fcntl(file.get(), F_GET_SEALS) : -1;
      seals < 0 || (seals & never_resized) != never_resized || fstat(file.get(), &about) != 0
      || about.st_size != sizeof(layout))
    return nullptr;
  auto found = mapped(std::move(file), false);
  return found && found->where_->owner == write(theirs) && found->open_pipes(process) ? std::move(found) : nullptr;
}

bool shared_memory::make_pipes() {
  std::array<int, 2> out{}, in{};
  if (pipe2(out.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return false;
  for_the_other_[0] = descriptor{out[0]};
  caller_ = descriptor{out[1]};
  if (pipe2(in.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return false;
  calls_ = descriptor{in[0]};
  for_the_other_[1] = descriptor{in[1]};
  for (std::size_t i = 0; i < 2; ++i)
    where_->pipes[i] = static_cast<std::uint32_t>(for_the_other_[i].get());
  return true;
}

bool shared_memory::open_pipes(std::uint32_t process) {
  calls_ = opened(process, where_->pipes[0], O_RDONLY);
  caller_ = opened(process, where_->pipes[1], O_WRONLY);
  return is_pipe(calls_) && is_pipe(caller_);
}

shared_memory::~shared_memory() { munmap(where_, sizeof(layout)); }

memory_place shared_memory::place() const noexcept {
  return {static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(file_.get())};
}

void shared_memory::belongs_to(const hello& mine) noexcept { where_->owner = write(mine); }

void shared_memory::call() noexcept {
  const std::byte any{};
  [[maybe_unused]] const auto ignored = ::write(caller_.get(), &any, 1);
}

byte_ring shared_memory::in() const noexcept {
  const std::size_t i = is_mine_ ? 1 : 0;
  return {where_->states[i], where_->rings[i]};
}
byte_ring shared_memory::out() const noexcept {
  const std::size_t i = is_mine_ ? 0 : 1;
  return {where_->states[i], where_->rings[i]};
}

} // namespace gossamer::actors::detail
