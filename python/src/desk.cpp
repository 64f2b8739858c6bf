#include "desk.hpp"

#include <algorithm>
#include <utility>

namespace gossamer::python {

desk::ticket desk::post(job wanted) {
  auto t = std::make_shared<job>(std::move(wanted));
  const std::lock_guard lock{mutex_};
  if (left_) {
    t->failure = left_;
    t->is_done = true;
  } else {
    posted_.push_back(t);
  }
  news_.notify_all();
  return t;
}

void desk::wait(const ticket& t) {
  std::unique_lock lock{mutex_};
  news_.wait(lock, [&] { return t->is_done; });
  if (t->failure)
    std::rethrow_exception(t->failure);
}

bool desk::when_done(const ticket& t, std::function<void()> f) {
  const std::lock_guard lock{mutex_};
  if (t->is_done)
    return false;
  t->on_done = std::move(f);
  return true;
}

void desk::end() {
  const std::lock_guard lock{mutex_};
  ended_ = true;
  news_.notify_all();
}

void desk::keep_with(compute::model::kept_beside k) {
  const std::lock_guard lock{mutex_};
  keeper_ = std::move(k);
}

/// The worker that asks may go on in the loop's thread, which hands a gradient over: then it is between two steps.
vec desk::kept() {
  std::unique_lock lock{mutex_};
  if (restored_)
    return *restored_;
  if (!keeper_ || left_)
    return {};
  if (std::this_thread::get_id() == loop_) {
    const auto save = keeper_->save;
    lock.unlock();
    return save();
  }
  lock.unlock();
  const auto t = post({.is_to_keep = true, .x = {}, .samples = {}});
  try {
    wait(t);
  } catch (const loop_has_been_left&) {
    return {};
  }
  return std::move(t->kept);
}

void desk::hear(const compute::mean_evaluation& e) {
  const std::scoped_lock lock{mutex_};
  heard_ = e;
}

std::optional<compute::mean_evaluation> desk::heard() const {
  const std::scoped_lock lock{mutex_};
  return heard_;
}

void desk::restore(const vec& kept) {
  const std::lock_guard lock{mutex_};
  restored_ = kept;
}

desk::ticket desk::take(std::chrono::milliseconds patience) {
  std::unique_lock lock{mutex_};
  loop_ = std::this_thread::get_id();
  news_.wait_for(lock, patience, [&] { return !posted_.empty() || ended_; });
  if (posted_.empty())
    return nullptr;
  give_back(lock);
  auto t = std::move(posted_.front());
  posted_.pop_front();
  taken_.push_back(t);
  if (!t->is_to_keep)
    return t;
  lock.unlock();
  try {
    t->kept = keeper_->save();
  } catch (...) {
    t->failure = std::current_exception();
  }
  const auto failure = t->failure;
  finish(*t, std::unique_lock{mutex_});
  if (failure)
    std::rethrow_exception(failure);
  return nullptr;
}

void desk::give_back(std::unique_lock<std::mutex>& lock) {
  const auto what = std::exchange(restored_, std::nullopt);
  if (!what || what->empty())
    return;
  if (!keeper_)
    throw error(errc::usage,
                "the run goes on from a state with what a loop kept beside the model, and this one keeps "
                "nothing",
                "begin the program as it was begun then: a group of processes keeps nothing");
  lock.unlock();
  keeper_->restore(*what);
  lock.lock();
}

bool desk::has_ended() const {
  const std::lock_guard lock{mutex_};
  return ended_ && posted_.empty();
}

desk::ticket desk::unanswered() const {
  const std::lock_guard lock{mutex_};
  return taken_.empty() ? nullptr : taken_.front();
}

void desk::answer(const ticket& t, compute::gradient_and_loss result) {
  std::unique_lock lock{mutex_};
  t->gradient = std::move(result);
  finish(*t, std::move(lock));
}

void desk::answer(const ticket& t, compute::evaluation result) {
  std::unique_lock lock{mutex_};
  t->evaluation = result;
  finish(*t, std::move(lock));
}

void desk::leave(const std::string& why) {
  std::unique_lock lock{mutex_};
  left_ = std::make_exception_ptr(loop_has_been_left{why});
  auto open = std::exchange(posted_, {});
  std::ranges::move(std::exchange(taken_, {}), std::back_inserter(open));
  for (const auto& t : open) {
    if (t->is_done)
      continue;
    t->failure = left_;
    finish(*t, std::move(lock));
    lock = std::unique_lock{mutex_};
  }
}

void desk::finish(job& j, std::unique_lock<std::mutex> lock) {
  j.is_done = true;
  std::erase_if(taken_, [&](const ticket& t) { return t.get() == &j; });
  const auto tell = std::exchange(j.on_done, {});
  lock.unlock();
  news_.notify_all();
  if (tell)
    tell();
}

} // namespace gossamer::python
