#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace gossamer::actors {

template <class T = void>
class task;

namespace detail {

struct promise_base {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::exception_ptr problem;

  struct resume_continuation {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      return finished.promise().continuation;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  resume_continuation final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { problem = std::current_exception(); }
  void rethrow_problem() {
    if (problem)
      std::rethrow_exception(std::exchange(problem, nullptr));
  }
};

template <class T>
struct promise : promise_base {
  std::optional<T> value;

  task<T> get_return_object();
  void return_value(T result) { value = std::move(result); }
  T result() {
    rethrow_problem();
    return std::move(*value);
  }
};

template <>
struct promise<void> : promise_base {
  task<void> get_return_object();
  void return_void() noexcept {}
  void result() { rethrow_problem(); }
};

} // namespace detail

/// A coroutine that an actor owns. It starts when it is awaited, or earlier when its owner calls `start()`. It runs in
/// the actor's thread, which delivers what it waits for. Awaiting suspends the coroutine, never the thread.
///
/// An exception that leaves the coroutine is rethrown by the `co_await` on it, or by its owner's `check()`. Destroying
/// a task that has not finished destroys its local variables, wherever it is suspended.
///
/// Write around two faults of g++ 12. It destroys brace-initialised aggregate temporaries inside a `co_await`
/// expression twice: name them first. And a loop that awaits in its condition is never entered if its body declares no
/// local variable (scripts/style_check.py looks for such loops).
template <class T>
class [[nodiscard]] task {
public:
  using promise_type = detail::promise<T>;

  explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), started_(other.started_) {}
  task& operator=(task other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(started_, other.started_);
    return *this;
  }
  ~task() {
    if (handle_)
      handle_.destroy();
  }

  void start() {
    started_ = true;
    handle_.resume();
  }
  bool done() const noexcept { return handle_.done(); }
  /// Rethrows the exception that ended the coroutine, if there is one.
  void check() { handle_.promise().rethrow_problem(); }

  bool await_ready() const noexcept { return handle_.done(); }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
    handle_.promise().continuation = awaiting;
    if (std::exchange(started_, true))
      return std::noop_coroutine();
    return handle_;
  }
  T await_resume() { return handle_.promise().result(); }

private:
  std::coroutine_handle<promise_type> handle_;
  bool started_ = false;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object() {
  return task<T>{std::coroutine_handle<promise>::from_promise(*this)};
}

inline task<void> promise<void>::get_return_object() {
  return task<void>{std::coroutine_handle<promise>::from_promise(*this)};
}

} // namespace detail

/// Lets coroutines wait until another coroutine of the same actor reports a change: `co_await s.wait()`. A resumed
/// coroutine must check its condition again; a notification without a waiting coroutine is forgotten.
/// Threads: actor-confined.
class signal {
public:
  signal() = default;
  signal(const signal&) = delete;
  signal& operator=(const signal&) = delete;

  /// Resumes the waiting coroutines, in the order in which they began to wait.
  void notify() {
    for (auto n = waiting_.size(); n > 0 && !waiting_.empty();
         --n) { // a resumed coroutine may wait again, or destroy another
      const auto next = waiting_.front();
      waiting_.erase(waiting_.begin());
      next.resume();
    }
  }

  /// Drops coroutines that have been destroyed.
  void forget() noexcept { waiting_.clear(); }

  /// Adds a waiting coroutine, for awaitables that are built on a signal.
  void resume_on_notify(std::coroutine_handle<> waiting) { waiting_.push_back(waiting); }

  class waiter {
  public:
    explicit waiter(signal& s) noexcept : signal_(s) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter() {
      if (waiting_)
        std::erase(signal_.waiting_, waiting_); // the coroutine is destroyed while it waits
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      signal_.resume_on_notify(waiting);
    }
    void await_resume() noexcept { waiting_ = nullptr; }

  private:
    signal& signal_;
    std::coroutine_handle<> waiting_;
  };
  waiter wait() noexcept { return waiter{*this}; }

private:
  std::vector<std::coroutine_handle<>> waiting_;
};

} // namespace gossamer::actors
