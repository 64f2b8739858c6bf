#include "gossamer/actors/hosting/delivery_thread.hpp"

#include "gossamer/actors/hosting/messages.hpp"

#include <utility>

namespace gossamer::actors {

namespace {

constexpr std::size_t messages_a_turn = 8; // before the scheduler goes on with the actor
constexpr std::size_t longest_frame_here = slice_bytes + longest_frame_head;

thread_local delivery_thread* here = nullptr;

} // namespace

delivery_thread::delivery_thread(caf::actor_system& system) : caf::execution_unit(&system) { here = this; }
delivery_thread::~delivery_thread() { here = nullptr; }

void delivery_thread::exec_later(caf::resumable* ready) {
  if (std::exchange(runs_one_, true)) // a receiver of a message from the actor that runs here
    return system().scheduler().enqueue(ready);
  const auto then = ready->resume(this, messages_a_turn);
  runs_one_ = false;
  if (then == caf::resumable::resume_later)
    system().scheduler().enqueue(ready);
  else
    caf::intrusive_ptr_release(ready);
}

void deliver(const caf::actor& to, frame f) {
  auto* const where = f.wire_bytes() <= longest_frame_here ? here : nullptr;
  to->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), caf::no_stages, std::move(f)), where);
}

} // namespace gossamer::actors
