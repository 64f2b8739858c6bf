// Replaces runtime.cpp and vec.cu in builds without the CUDA toolkit.
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/base/cuda/vec.hpp"
#include "gossamer/base/error.hpp"

namespace gossamer::cuda {
namespace {
[[noreturn]] void built_without() {
  throw error(errc::usage, "built without CUDA",
              "use cpu, or build Gossamer where the CUDA toolkit is installed (cmake --preset cuda)");
}
} // namespace

struct stream::core {};
struct event::core {};

std::vector<gpu_description> gpus() { built_without(); }

stream::stream(int) { built_without(); }
int stream::gpu() const noexcept { return 0; }
int stream::multiprocessors() const noexcept { return 0; }
void stream::wait() const { built_without(); }
void stream::follow(const stream&) const { built_without(); }
void stream::then(std::function<void()>) const { built_without(); }
void stream::keep(buffer) const { built_without(); }
void* stream::native() const noexcept { return nullptr; }
void stream::make_present() const { built_without(); }
void stream::launching() const { built_without(); }
void stream::launched(const char*) const { built_without(); }
void stream::measure() const { built_without(); }
std::vector<kernel_time> stream::measured() const { built_without(); }

event::event(const stream&) { built_without(); }
void event::record(const stream&) const { built_without(); }
void event::wait() const { built_without(); }
double event::seconds_since(const event&) const { built_without(); }
void* event::native() const noexcept { return nullptr; }

device_buffer::device_buffer(const stream&, std::size_t) { built_without(); }
device_buffer::~device_buffer() = default;
buffer_pool& pinned_pool() { built_without(); }
void upload(const stream&, std::byte*, std::span<const std::byte>) { built_without(); }
void download(const stream&, std::span<std::byte>, const std::byte*) { built_without(); }
void copy(const stream&, std::byte*, const std::byte*, std::size_t) { built_without(); }
void clear(const stream&, std::byte*, std::size_t) { built_without(); }

vec on_gpu(const stream&, const vec&) { built_without(); }

} // namespace gossamer::cuda
