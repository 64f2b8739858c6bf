#pragma once

#include <caf/all.hpp>

#include <deque>
#include <initializer_list>
#include <vector>

namespace gossamer::actors {

/// Runs some actors in a thread that is none of the scheduler's, for as long as they wake each other up and not much
/// longer. To wake a thread of the scheduler takes 50 us and more, twice for a gradient that is computed in that
/// thread.
///
/// The system does not end before this object does, although the last of its actors may end in here.
/// Threads: it belongs to the one that made it.
class lent_thread final : public caf::execution_unit {
public:
  /// @param may_run those that have a thread of their own go on there
  /// @param turns how often an actor runs here, for a few messages each, before the scheduler goes on with it
  lent_thread(caf::actor_system& system, std::initializer_list<caf::actor> may_run, int turns = 16);
  lent_thread(const lent_thread&) = delete;
  lent_thread& operator=(const lent_thread&) = delete;
  ~lent_thread() override { system().registry().dec_running(); }

  /// Sends a message, and runs the receiver, and then others of them that have got messages. Those that run elsewhere
  /// already go on there, and all others are left to the scheduler.
  template <class Message>
  void send(const caf::actor& to, Message message) {
    to->enqueue(caf::make_mailbox_element(nullptr, caf::make_message_id(), caf::no_stages, std::move(message)), this);
    run();
  }

  /// Called by CAF for an actor that was waiting when it got a message.
  void exec_later(caf::resumable* ready) override;

private:
  void run();

  std::vector<const caf::resumable*> may_run_;
  std::deque<caf::resumable*> ready_;
  int turns_;
};

} // namespace gossamer::actors
