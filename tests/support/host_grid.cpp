#include "support/host_grid.hpp"

#include <algorithm>
#include <csetjmp>
#include <stdexcept>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
// The address sanitizer must be told when stacks change.
static void __sanitizer_start_switch_fiber(void**, const void*, std::size_t) {}
static void __sanitizer_finish_switch_fiber(void*, const void**, std::size_t*) {}
#endif

namespace gossamer::test {
namespace {
constexpr std::size_t stack_bytes = 128 * 1024;
thread_local host_block* starting = nullptr; // block of the next thread to begin: contexts start without arguments
} // namespace

struct host_block::fiber {
  explicit fiber(unsigned n) : number(n), stack(new std::byte[stack_bytes]) {}

  unsigned number;
  std::unique_ptr<std::byte[]> stack;
  ucontext_t context{};
  jmp_buf at{};
  void* fake_stack = nullptr;
  bool begun = false, ended = false;
  const meeting* waits_in = nullptr; ///< the fiber goes on when this meeting has been held once more
  std::uint64_t came_at = 0;

  bool can_go_on() const { return !ended && (waits_in == nullptr || waits_in->held > came_at); }
};

struct host_block::scheduler {
  ucontext_t context{};
  jmp_buf at{};
  void* fake_stack = nullptr;
  const void* stack = nullptr;
  std::size_t stack_size = 0;
};

host_block::host_block(unsigned threads, std::size_t shared_bytes, std::uint64_t order_seed)
    : threads_(threads), warps_(threads / cuda::warp_size, meeting{cuda::warp_size}), all_(threads),
      shared_memory_(new std::byte[shared_bytes + 64]), scheduler_(std::make_unique<scheduler>()) {
  void* begin = shared_memory_.get();
  auto space = shared_bytes + 64;
  shared_.reset(static_cast<std::byte*>(std::align(16, shared_bytes, begin, space)));
  std::fill_n(shared_memory_.get(), shared_bytes + 64, std::byte{0xCD}); // as undefined as on a GPU
  for (unsigned t = 0; t < threads; ++t) {
    fibers_.push_back(std::make_unique<fiber>(t));
    order_.push_back(t);
  }
  if (order_seed != 0)
    random_sequence{{order_seed, 0, purpose::interleaving}, 0}.shuffle(std::span{order_});
}

host_block::~host_block() = default;

void host_block::run(const std::function<void(unsigned)>& body) {
  body_ = &body;
  for (auto& f : fibers_) {
    f->begun = f->ended = false;
    f->waits_in = nullptr;
  }
  for (unsigned left = threads_; left > 0;) {
    bool moved = false;
    for (const auto t : order_) {
      auto& f = *fibers_[t];
      if (!f.can_go_on())
        continue;
      resume(f);
      moved = true;
      left -= f.ended ? 1 : 0;
    }
    if (!moved)
      throw std::logic_error("threads of a block wait for others that will not come");
  }
}

/// The first entry to a stack is a change of contexts. Later entries are jumps, which cost no system call.
void host_block::resume(fiber& f) {
  running_ = &f;
  __sanitizer_start_switch_fiber(&scheduler_->fake_stack, f.stack.get(), stack_bytes);
  if (_setjmp(scheduler_->at) == 0) {
    if (f.begun)
      _longjmp(f.at, 1);
    f.begun = true;
    getcontext(&f.context);
    f.context.uc_stack = {.ss_sp = f.stack.get(), .ss_flags = 0, .ss_size = stack_bytes};
    f.context.uc_link = nullptr;
    starting = this;
    makecontext(&f.context, &host_block::enter, 0);
    setcontext(&f.context);
  }
  __sanitizer_finish_switch_fiber(scheduler_->fake_stack, nullptr, nullptr);
}

void host_block::enter() {
  auto& block = *starting;
  auto& f = *block.running_;
  __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_->stack, &block.scheduler_->stack_size);
  (*block.body_)(f.number);
  f.ended = true;
  block.leave();
}

/// Jumps back to `resume`, for good when the thread has ended.
void host_block::leave() {
  auto& f = *running_;
  __sanitizer_start_switch_fiber(f.ended ? nullptr : &f.fake_stack, scheduler_->stack, scheduler_->stack_size);
  if (_setjmp(f.at) == 0)
    _longjmp(scheduler_->at, 1);
  __sanitizer_finish_switch_fiber(f.fake_stack, nullptr, nullptr);
}

const std::vector<std::uint64_t>& host_block::meet(meeting& m, unsigned who, int kind, std::uint64_t value) {
  auto& f = *running_;
  const auto now = m.held; // no thread can be two meetings ahead, so two lists suffice
  auto& shown = m.shown[now % 2];
  shown[who] = value;
  if (m.arrived > 0 && m.kind != kind)
    m.expected = ~0u; // threads meet at different places: none goes on, and `run` throws
  m.kind = kind;
  if (++m.arrived == m.expected) {
    m.arrived = 0;
    ++m.held;
    return shown;
  }
  f.waits_in = &m;
  f.came_at = now;
  leave();
  f.waits_in = nullptr;
  return shown;
}

} // namespace gossamer::test
