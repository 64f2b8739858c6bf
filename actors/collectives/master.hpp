#pragma once

#include "gossamer/actors/collectives/request_log.hpp"
#include "gossamer/actors/worker/algorithm.hpp"

#include <optional>

namespace gossamer::actors {

/// The protocol of a master: questions (`ask`), and answers that it may withhold.
///
/// After each question, each loss or return of a worker, and at the end of training, the master goes through the same
/// steps, without suspending in between: act, decide on the answers, save, answer. So
///  - every state that a worker has seen is in the saved state from which the next incarnation goes on;
///  - a question that is asked again, because the answer was lost with an earlier incarnation, is not acted on twice;
///  - answers reflect the state when they are given, not when the question first came;
///  - no worker waits for the dead: answers that were withheld because of them are reconsidered;
///  - no worker waits for workers of a checkpoint that the resumed run does not have.
///
/// A subclass defines the action, the workers that may be answered, and its own fields.
/// Threads: actor-confined.
class master : public algorithm {
public:
  task<> run(worker& w) final;
  void begin_from(worker& w, remembered_model known) override = 0;
  void fields(archive& a) final {
    requests_.fields(a);
    own_fields(a);
  }

protected:
  struct answer {
    std::uint32_t part = 0; ///< the answer's meaning, in the algorithm's own numbers
    packet body = {};
  };
  /// This master's part of the model that a worker remembers. @error errc::bad_packet unless it has `size` elements
  static vec own_part(const worker& w, const remembered_model& known, std::size_t size);

  /// Goes through the steps above, when something else has changed: a time is over.
  void settle(worker& w);

private:
  /// Visits the subclass's state, as `fields`; the questions of the workers are visited before.
  virtual void own_fields(archive& a) = 0;
  /// Notes what a question says of its sender. Called also for one that has been acted on before.
  virtual void hear(const frame&) {}
  /// Acts on a question: called once for each.
  virtual void take(worker& w, const frame& asked) = 0;
  /// Begins a run that goes on from a checkpoint: workers that had done their last step may have more of them.
  virtual void begin_run() {}
  /// Undoes a worker's last task or read: the worker has never got that answer.
  virtual void withdraw(rank) {}
  /// Undoes, besides, the contributions of a worker that wait for others: the worker has been lost, has restarted, or
  /// does not belong to this run.
  virtual void forget(rank who) { withdraw(who); }
  /// Acts if the action had waited for a question or for a loss, and is due now.
  virtual void act(worker&) {}
  /// The answer that a waiting worker gets now, which is noted as given; `nullopt`: the worker waits on.
  virtual std::optional<answer> answer_to(worker& w, const pending_request& q) = 0;

  task<> listen(worker& w);
  task<> watch(worker& w);

  request_log requests_;
};

/// `quorum`, pushes that a master waits for, and `grace`, in seconds that it waits besides; 0 by default.
parameter quorum(std::string meaning);
parameter grace(std::string meaning);

/// For algorithms with one master, whatever their parameters.
inline std::size_t one_master(const arguments&) { return 1; }

} // namespace gossamer::actors
