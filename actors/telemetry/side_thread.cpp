#include "gossamer/actors/telemetry/side_thread.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

namespace gossamer::actors {

struct side_thread::shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<task> waiting;
  std::exception_ptr failure;
  std::uint64_t left_out = 0;
  bool at_work = false, ends = false;

  bool idle() const { return waiting.empty() && !at_work; }
  void require_health() const {
    if (failure)
      std::rethrow_exception(failure);
  }
};

side_thread::side_thread() : state_(std::make_shared<shared>()) {
  try {
    thread_ = std::thread{[state = state_] { work(state); }};
  } catch (const std::system_error& e) {
    throw error(errc::failed, fmt::format("cannot start a thread: {}", e.code().message()),
                "raise the limits of this shell (ulimit -u, ulimit -v)");
  }
}

side_thread::~side_thread() {
  const bool is_free = [&] {
    const std::scoped_lock lock{state_->mutex};
    state_->ends = true;
    return state_->idle();
  }();
  state_->changed.notify_all();
  is_free ? thread_.join() : thread_.detach();
}

void side_thread::post(task what) { offer(std::move(what), std::numeric_limits<std::size_t>::max()); }

bool side_thread::offer(task what, std::size_t most_waiting) {
  {
    const std::scoped_lock lock{state_->mutex};
    state_->require_health();
    if (state_->waiting.size() >= most_waiting)
      return ++state_->left_out, false;
    state_->waiting.push_back(std::move(what));
  }
  state_->changed.notify_all();
  return true;
}

void side_thread::finish() {
  std::unique_lock lock{state_->mutex};
  state_->changed.wait(lock, [&] { return state_->idle(); });
  state_->require_health();
}

bool side_thread::finish_within(std::chrono::milliseconds limit) {
  std::unique_lock lock{state_->mutex};
  const bool done = state_->changed.wait_for(lock, limit, [&] { return state_->idle(); });
  state_->require_health();
  return done;
}

void side_thread::check() const {
  const std::scoped_lock lock{state_->mutex};
  state_->require_health();
}

std::uint64_t side_thread::left_out() const {
  const std::scoped_lock lock{state_->mutex};
  return state_->left_out;
}

void side_thread::work(const std::shared_ptr<shared>& state) {
  std::unique_lock lock{state->mutex};
  for (;;) {
    state->changed.wait(lock, [&] { return state->ends || !state->waiting.empty(); });
    if (state->waiting.empty())
      return;
    auto what = std::move(state->waiting.front());
    state->waiting.pop_front();
    state->at_work = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      what();
    } catch (...) {
      failure = std::current_exception();
    }
    what = nullptr; // destroys the task's data before any waiter learns that it is done
    lock.lock();
    state->at_work = false;
    if (failure) {
      state->failure = failure;
      state->waiting.clear();
    }
    state->changed.notify_all();
  }
}

} // namespace gossamer::actors
