#pragma once

// The awaitables of a worker, and what makes them.
#include "gossamer/actors/worker/worker.hpp"

namespace gossamer::actors {

/// The awaitable of `worker::between_cuts`.
class worker::cut_gate {
public:
  explicit cut_gate(worker& w) noexcept : worker_(w) {}
  bool await_ready() const {
    worker_.pass_cut();
    return !worker_.cut_.is_ordered();
  }
  void await_suspend(std::coroutine_handle<> waiting) { worker_.cut_passed_.resume_on_notify(waiting); }
  void await_resume() const noexcept {}

private:
  worker& worker_;
};

/// The awaitable of `worker::next_step`.
class worker::step_gate {
public:
  step_gate(worker& w, std::uint64_t t) noexcept : worker_(w), step_(t) {}
  bool await_ready() const { return worker_.is_open(step_); }
  void await_suspend(std::coroutine_handle<> waiting) {
    worker_.gate_.resume_on_notify(waiting);
    worker_.wait_at_gate();
  }
  bool await_resume() {
    worker_.reach(step_);
    return step_ < worker_.limit_;
  }

private:
  worker& worker_;
  std::uint64_t step_;
};

/// The awaitable of `worker::may_leave`.
class worker::way_out {
public:
  explicit way_out(worker& w) noexcept : worker_(w) {}
  bool await_ready() const { return worker_.over() || !worker_.pauses_before(worker_.step_); }
  void await_suspend(std::coroutine_handle<> waiting) {
    worker_.gate_.resume_on_notify(waiting);
    worker_.wait_at_gate();
  }
  void await_resume() const { worker_.at_gate_ = false; }

private:
  worker& worker_;
};

/// The awaitable of `worker::start_gradient`.
class worker::pending_gradient {
public:
  explicit pending_gradient(worker& w) noexcept : worker_(w) {}
  bool await_ready() const noexcept { return worker_.gradient_ready_ && !worker_.held_; }
  void await_suspend(std::coroutine_handle<> waiting) noexcept { worker_.gradient_signal_.resume_on_notify(waiting); }
  vec await_resume() noexcept {
    worker_.gradient_ready_ = false;
    worker_.gradient_under_way_.reset();
    return std::move(worker_.gradient_);
  }

private:
  worker& worker_;
};

inline worker::step_gate worker::next_step(std::uint64_t t, bool owes) noexcept {
  step_ = t;
  owes_ = owes;
  return {*this, t};
}

inline worker::cut_gate worker::between_cuts() noexcept { return cut_gate{*this}; }

inline worker::way_out worker::may_leave() noexcept {
  owes_ = false;
  return way_out{*this};
}

} // namespace gossamer::actors
