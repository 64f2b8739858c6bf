#include "gossamer/actors/worker/inbox.hpp"

#include <utility>

namespace gossamer::actors {

void inbox::reception::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  box_.waiting_.push_back(this);
  if (box_.witness_ && from_)
    box_.witness_->wait_begins(box_.owner_, *from_, label_);
}

void inbox::drop(reception& r) {
  std::erase(waiting_, &r);
  if (witness_ && r.from_)
    witness_->wait_ends(owner_, *r.from_);
}

void inbox::resume(reception& r) {
  drop(r); // before it runs: the coroutine may ask for the next frame at once
  std::exchange(r.waiting_, {}).resume();
}

void inbox::deliver(frame f) {
  const auto found = std::ranges::find_if(waiting_, [&](const reception* r) { return r->accepts(f); });
  if (held_ || found == waiting_.end()) {
    frames_.push_back(std::move(f));
    return;
  }
  auto& receiver = **found;
  receiver.received_ = std::move(f);
  resume(receiver);
}

void inbox::thaw() {
  held_ = false;
  const auto served = [this] { return std::ranges::find_if(waiting_, [this](reception* r) { return take(*r); }); };
  for (auto r = served(); r != waiting_.end(); r = served())
    resume(**r);
}

void inbox::give_up(const std::function<bool(const reception&)>& hopeless) {
  auto ended = waiting_;
  std::erase_if(ended, [&](const reception* r) { return !hopeless(*r); });
  for (auto* r : ended)
    if (std::ranges::find(waiting_, r) != waiting_.end()) { // a coroutine that runs may end another wait
      take(*r);
      resume(*r);
    }
}

void inbox::forget_waits() {
  while (!waiting_.empty()) {
    auto& r = *waiting_.front();
    drop(r);
    r.waiting_ = {};
  }
}

bool inbox::take(reception& r) {
  const auto found = std::ranges::find_if(frames_, [&](const frame& f) { return r.accepts(f); });
  if (found == frames_.end())
    return false;
  r.received_ = std::move(*found);
  frames_.erase(found);
  return true;
}

} // namespace gossamer::actors
