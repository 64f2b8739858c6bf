#pragma once

#include "gossamer/actors/hosting/messages.hpp"
#include "gossamer/actors/worker/work_clock.hpp"

#include <deque>
#include <functional>

namespace gossamer::actors {

/// The queue by which a worker handles its messages one after the other. Where a clock says that this takes time,
/// messages that come while the worker is at work wait for their turn, and its own messages leave when the work before
/// them is done. Without a clock everything happens at once.
/// Threads: confined to the actor.
class work_queue {
public:
  using time = std::chrono::nanoseconds;

  /// @param clock outlives this object; may be null
  work_queue(caf::event_based_actor* self, rank who, work_clock* clock) : self_(self), who_(who), clock_(clock) {}

  /// Returns the present time, with the work of the present handler so far.
  time now() const { return self_->clock().now().time_since_epoch() + spent(); }

  /// Handles a message as soon as those before it have been handled.
  /// @param work is called once
  template <class Work>
  void take(Work work) {
    if (waiting_.empty() && busy_until_ <= now())
      return handle(work);
    waiting_.emplace_back(std::move(work));
    if (waiting_.size() == 1)
      wake_when_done();
  }

  /// Handles waiting messages. To be called on `work_done`.
  void go_on() {
    while (!waiting_.empty() && busy_until_ <= now()) {
      auto work = std::move(waiting_.front());
      waiting_.pop_front();
      handle(work);
    }
    if (!waiting_.empty())
      wake_when_done();
  }

  /// Sends a message when the work of the present handler so far is done.
  template <class Message>
  void send(const caf::actor& to, Message message) {
    const auto delay = spent();
    if (delay.count() == 0)
      self_->send(to, std::move(message));
    else
      self_->delayed_send(to, delay, std::move(message));
  }

  /// Sends a message to the actor itself at this time.
  template <class Message>
  void send_at(time when, Message message) {
    self_->delayed_send(self_, std::max<time>(when - self_->clock().now().time_since_epoch(), time{0}),
                        std::move(message));
  }

  /// Tells the clock of a frame that has come, or is about to be sent.
  void handling(const frame& f) {
    if (clock_)
      clock_->handling(f);
  }

private:
  time spent() const { return clock_ ? clock_->spent() : time{0}; }

  template <class Work>
  void handle(Work& work) {
    if (!clock_)
      return work();
    clock_->begin(who_);
    {
      const metered counted{clock_};
      work();
    }
    const auto began = now() - spent();
    busy_until_ = began + clock_->end();
  }

  void wake_when_done() { self_->delayed_send(self_, busy_until_ - now(), work_done{}); }

  caf::event_based_actor* self_;
  rank who_;
  work_clock* clock_;
  time busy_until_{0};
  std::deque<std::function<void()>> waiting_;
};

} // namespace gossamer::actors
