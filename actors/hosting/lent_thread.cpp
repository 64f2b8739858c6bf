#include "gossamer/actors/hosting/lent_thread.hpp"

#include <algorithm>

namespace gossamer::actors {

namespace {

constexpr std::size_t messages_a_lent_turn = 8;

} // namespace

lent_thread::lent_thread(caf::actor_system& system, std::initializer_list<caf::actor> may_run, int turns)
    : caf::execution_unit(&system), turns_(turns) {
  system.registry().inc_running(); // as an actor that the system waits for
  for (const auto& one : may_run)
    may_run_.push_back(dynamic_cast<caf::resumable*>(caf::actor_cast<caf::abstract_actor*>(one)));
}

void lent_thread::exec_later(caf::resumable* ready) {
  if (std::ranges::find(may_run_, ready) != may_run_.end())
    ready_.push_back(ready);
  else
    system().scheduler().enqueue(ready);
}

void lent_thread::run() {
  for (int turn = 0; !ready_.empty(); ++turn) {
    auto* const one = ready_.front();
    ready_.pop_front();
    if (turn >= turns_) { // the thread has work of its own
      system().scheduler().enqueue(one);
      continue;
    }
    const auto then = one->resume(this, messages_a_lent_turn);
    if (then == caf::resumable::resume_later)
      ready_.push_back(one);
    else
      caf::intrusive_ptr_release(one);
  }
}

} // namespace gossamer::actors
