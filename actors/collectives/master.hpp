#pragma once

#include "gossamer/actors/collectives/request_log.hpp"
#include "gossamer/actors/worker/algorithm.hpp"

#include <optional>

namespace gossamer::actors {

/// What a master's life consists of: questions (`ask`), and answers that it may withhold.
///
/// Whenever a question has come, somebody has been lost or has come back, or training is over, it goes through the same
/// steps, without suspending in between: act, decide who is answered and with what, save, answer. So
///  - whatever others have seen is in the state from which a next life goes on;
///  - a question that is asked again, because the answer was lost with a former life, is not acted on twice;
///  - answers say how things are when they are given, not when the question first came;
///  - nobody waits for the dead: answers that were withheld because of them are looked at again;
///  - nobody waits for workers of a checkpoint that the run which goes on from it does not have.
///
/// An algorithm says what acting is, and who may be answered. Its fields are those below and its own. Threads:
/// actor-confined.
class master : public algorithm {
public:
  task<> run(worker& w) final;
  void begin_from(worker& w, remembered_model known) override = 0;
  void fields(archive& a) override { requests_.fields(a); }

protected:
  struct answer {
    std::uint32_t part = 0; ///< what is answered, in the algorithm's own numbers
    packet body = {};
  };
  /// This master's part of what a worker remembers. @error errc::bad_packet when it has not `size` elements
  static vec own_part(const worker& w, const remembered_model& known, std::size_t size);

private:
  /// Acts on a question: called once for each.
  virtual void take(worker& w, const frame& asked) = 0;
  /// The worker has never got its last answer: what it was given to do or to read counts no more.
  virtual void withdraw(rank) {}
  /// The worker has been lost, lives anew, or is none of this run's: what has come from it and waits for others counts
  /// no more, either.
  virtual void forget(rank who) { withdraw(who); }
  /// Does what is due now, if it waited for a question or for somebody's loss.
  virtual void act(worker&) {}
  /// What one who waits is told now, and written down as told; nothing: it waits on.
  virtual std::optional<answer> answer_to(worker& w, const pending_request& q) = 0;

  task<> listen(worker& w);
  task<> watch(worker& w);
  void settle(worker& w);

  request_log requests_;
};

/// For algorithms that have one, whatever their parameters.
inline std::size_t one_master(const arguments&) { return 1; }

} // namespace gossamer::actors
