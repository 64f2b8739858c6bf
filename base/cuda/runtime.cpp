// GPUs by way of the CUDA runtime.
#include "gossamer/base/cuda/detail/check.hpp"
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/memory.hpp"
#include "gossamer/base/cuda/stream.hpp"

#include <fmt/format.h>

#include <limits>
#include <mutex>

namespace gossamer::cuda {

using detail::check;

namespace {

constexpr std::size_t most_suspects = 8;

/// Makes a GPU the current one of this thread during its lifetime, as the CUDA runtime requires.
class on_gpu {
public:
  explicit on_gpu(int gpu) {
    check(cudaGetDevice(&before_), "asking for the present GPU");
    check(cudaSetDevice(gpu), fmt::format("choosing cuda:{}", gpu));
  }
  on_gpu(const on_gpu&) = delete;
  on_gpu& operator=(const on_gpu&) = delete;
  ~on_gpu() { cudaSetDevice(before_); }

private:
  int before_ = 0;
};

int count() {
  int result = 0;
  check(cudaGetDeviceCount(&result), "counting GPUs");
  if (result == 0)
    throw detail::translated(cudaErrorNoDevice, "counting GPUs");
  return result;
}

int attribute(cudaDeviceAttr which, int gpu) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, gpu), fmt::format("asking what cuda:{} is", gpu));
  return value;
}

/// Makes the driver's pool keep returned memory. By default it would release all of it at every wait.
void keep_freed_memory(int gpu) {
  cudaMemPool_t pool{};
  const auto doing = fmt::format("setting up the memory pool of cuda:{}", gpu);
  check(cudaDeviceGetDefaultMemPool(&pool, gpu), doing);
  std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), doing);
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const auto code = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
  if (code == cudaErrorMemoryAllocation)
    throw error(errc::failed, fmt::format("no page-locked memory is left for {} bytes", bytes),
                "end other programs, or raise the limit on locked memory (ulimit -l)");
  check(code, "allocating page-locked memory");
  return memory;
}

void release_pinned(void* memory) noexcept { cudaFreeHost(memory); }

cudaStream_t native(const stream& s) { return static_cast<cudaStream_t>(s.native()); }
cudaEvent_t native(const event& e) { return static_cast<cudaEvent_t>(e.native()); }

void copy_any(const stream& s, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes > 0)
    check(cudaMemcpyAsync(to, from, bytes, kind, native(s)), fmt::format("copying {} bytes", bytes));
}

} // namespace

std::vector<gpu_description> gpus() {
  std::vector<gpu_description> result;
  for (int i = 0, n = count(); i < n; ++i) {
    cudaDeviceProp is{};
    check(cudaGetDeviceProperties(&is, i), fmt::format("asking what cuda:{} is", i));
    result.push_back({i, is.name, is.major, is.minor, is.multiProcessorCount, is.totalGlobalMem});
  }
  return result;
}

namespace {
/// A launch of a kernel that is measured.
struct measured_launch {
  event begin, end;
  const char* name;
};
} // namespace

struct stream::core {
  core(int number, int processors) : gpu(number), multiprocessors(processors) {}

  int gpu, multiprocessors;
  cudaStream_t native = nullptr;
  cudaEvent_t passed = nullptr;          // a point that another stream waits for
  std::mutex mutex = {};                 // guards the fields below, and `passed` from its recording until it is waited
                                         // for
  std::vector<const char*> kernels = {}; // launched since the last wait, the newest few
  bool measures = false;
  std::vector<measured_launch> launches = {}; // launches that are measured

  ~core() {
    if (passed != nullptr)
      cudaEventDestroy(passed);
    if (native != nullptr)
      cudaStreamDestroy(native); // does not wait: queued work is still done
  }
};

stream::stream(int gpu) {
  if (gpu < 0 || gpu >= count())
    throw error(errc::usage, fmt::format("there is no GPU with number {}", gpu), "see nvidia-smi -L");
  const on_gpu present{gpu};
  keep_freed_memory(gpu);
  core_ = std::make_shared<core>(gpu, attribute(cudaDevAttrMultiProcessorCount, gpu));
  const auto doing = fmt::format("creating a stream on cuda:{}", gpu);
  check(cudaStreamCreateWithFlags(&core_->native, cudaStreamNonBlocking), doing);
  check(cudaEventCreateWithFlags(&core_->passed, cudaEventDisableTiming), doing);
}

int stream::gpu() const noexcept { return core_->gpu; }
int stream::multiprocessors() const noexcept { return core_->multiprocessors; }
void* stream::native() const noexcept { return core_->native; }

void stream::wait() const {
  const auto code = cudaStreamSynchronize(core_->native);
  const std::lock_guard lock{core_->mutex};
  if (code != cudaSuccess)
    throw detail::failed_work(code, core_->gpu, core_->kernels);
  core_->kernels.clear();
}

void stream::follow(const stream& other) const {
  if (core_ == other.core_)
    return;
  const std::lock_guard lock{other.core_->mutex};
  check(cudaEventRecord(other.core_->passed, other.core_->native), "recording an event");
  check(cudaStreamWaitEvent(core_->native, other.core_->passed, 0), "making a stream wait for another");
}

/// cudaLaunchHostFunc never calls f when the GPU fails, and a thread that waits for f would then hang.
void stream::then(std::function<void()> f) const {
  auto held = std::make_unique<std::function<void()>>(std::move(f));
  const auto call = [](cudaStream_t, cudaError_t, void* p) {
    const std::unique_ptr<std::function<void()>> taken{static_cast<std::function<void()>*>(p)};
    (*taken)();
  };
  check(cudaStreamAddCallback(core_->native, call, held.get(), 0), "queueing a call of the host");
  held.release();
}

void stream::keep(buffer memory) const {
  auto held = std::make_unique<buffer>(std::move(memory));
  check(cudaLaunchHostFunc(
            core_->native, [](void* p) { delete static_cast<buffer*>(p); }, held.get()),
        "queueing the release of host memory");
  held.release();
}

void stream::make_present() const { check(cudaSetDevice(core_->gpu), fmt::format("choosing cuda:{}", core_->gpu)); }

void stream::launching() const {
  const std::lock_guard lock{core_->mutex};
  if (!core_->measures)
    return;
  core_->launches.push_back({event{*this}, event{*this}, nullptr});
  core_->launches.back().begin.record(*this);
}

void stream::launched(const char* name) const {
  const std::lock_guard lock{core_->mutex};
  if (core_->measures) {
    core_->launches.back().end.record(*this);
    core_->launches.back().name = name;
  }
  if (core_->kernels.size() == most_suspects)
    core_->kernels.erase(core_->kernels.begin());
  core_->kernels.push_back(name);
  const auto code = cudaGetLastError();
  if (code != cudaSuccess)
    throw detail::failed_work(code, core_->gpu, core_->kernels);
}

void stream::measure() const { core_->measures = true; }

std::vector<kernel_time> stream::measured() const {
  wait();
  std::vector<kernel_time> times;
  for (const auto& l : core_->launches)
    times.push_back({l.name, l.end.seconds_since(l.begin)});
  core_->launches.clear();
  return times;
}

struct event::core {
  cudaEvent_t native = nullptr;

  ~core() {
    if (native != nullptr)
      cudaEventDestroy(native);
  }
};

event::event(const stream& s) : core_(std::make_shared<core>()) {
  const on_gpu present{s.gpu()};
  check(cudaEventCreate(&core_->native), "creating an event");
}

void* event::native() const noexcept { return core_->native; }

void event::record(const stream& s) const {
  check(cudaEventRecord(core_->native, cuda::native(s)), "recording an event");
}

void event::wait() const { check(cudaEventSynchronize(core_->native), "waiting for an event"); }

double event::seconds_since(const event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, cuda::native(earlier), core_->native), "measuring time between two events");
  return static_cast<double>(milliseconds) * 1e-3;
}

device_buffer::device_buffer(const stream& s, std::size_t bytes) : owner_(s), size_(bytes) {
  if (bytes == 0)
    return;
  const auto code = cudaMallocAsync(reinterpret_cast<void**>(&data_), bytes, native(s));
  if (code == cudaErrorMemoryAllocation) {
    const on_gpu present{s.gpu()};
    std::size_t free = 0, all = 0;
    cudaGetLastError(); // this error is not sticky: the GPU goes on
    check(cudaMemGetInfo(&free, &all), "asking for free memory");
    throw detail::out_of_memory(bytes, free, all, s.gpu());
  }
  check(code, fmt::format("allocating {} bytes on cuda:{}", bytes, s.gpu()));
}

device_buffer::~device_buffer() {
  if (data_ != nullptr)
    cudaFreeAsync(data_, native(*owner_));
}

buffer_pool& pinned_pool() {
  // The pool is never destroyed: its last block could otherwise be given back after the driver has shut down.
  static auto& pool = *new buffer_pool{memory_source{allocate_pinned, release_pinned}};
  return pool;
}

void upload(const stream& s, std::byte* to, std::span<const std::byte> from) {
  copy_any(s, to, from.data(), from.size(), cudaMemcpyHostToDevice);
}

void download(const stream& s, std::span<std::byte> to, const std::byte* from) {
  copy_any(s, to.data(), from, to.size(), cudaMemcpyDeviceToHost);
}

void copy(const stream& s, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_any(s, to, from, bytes, cudaMemcpyDeviceToDevice);
}

void clear(const stream& s, std::byte* from, std::size_t bytes) {
  if (bytes > 0)
    check(cudaMemsetAsync(from, 0, bytes, native(s)), fmt::format("clearing {} bytes", bytes));
}

} // namespace gossamer::cuda
