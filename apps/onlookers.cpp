#include "gossamer/apps/detail/onlookers.hpp"

namespace gossamer::apps {

void onlookers::read(actors::run_lines& into) {
  line_history::place at{into.next};
  into.lines = lines_.read(at);
  into.next = at.next;
  const std::scoped_lock lock{mutex_};
  since_asked_.emplace();
}

bool onlookers::are_there() const {
  const std::scoped_lock lock{mutex_};
  return since_asked_ && since_asked_->seconds() < longest_pause_s;
}

} // namespace gossamer::apps
