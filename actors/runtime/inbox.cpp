#include "gossamer/actors/runtime/inbox.hpp"

#include <algorithm>

namespace gossamer::actors {

void inbox::deliver(frame f) {
  const auto found = std::ranges::find_if(waiting_, [&](const reception* r) { return r->accepts(f); });
  if (found == waiting_.end()) {
    frames_.push_back(std::move(f));
    return;
  }
  auto* const receiver = *found;
  waiting_.erase(found); // before it runs: it may ask for the next frame at once
  receiver->received_ = std::move(f);
  receiver->waiting_.resume();
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
