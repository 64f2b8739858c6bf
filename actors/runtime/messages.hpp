#pragma once

#include "gossamer/actors/runtime/roster.hpp"
#include "gossamer/actors/runtime/worker.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <caf/all.hpp>

namespace gossamer::actors {

// Control messages of one process. Data travels as `frame`.

/// coordinator -> worker; main -> coordinator
struct start_run {};

/// coordinator -> worker: who is there
struct meet_peers {
  std::shared_ptr<const roster> who;
};

/// coordinator -> worker, see worker::hold; answered by holding
struct hold_steps {
  std::uint32_t round;
};
struct holding {
  rank source;
  std::uint32_t incarnation;
  std::uint32_t round;
  std::uint64_t step, next_exchange;
};

/// coordinator -> worker, see worker::adopt and worker::proceed
struct proceed_with {
  std::shared_ptr<const view> next; ///< may be null: nothing changes
  std::shared_ptr<const roster> who;
  std::uint64_t limit; ///< no step from this one on begins
};

/// worker -> coordinator: it has the state of another worker
struct worker_joined {
  rank source;
  std::uint32_t incarnation;
  std::uint64_t step;
};

/// coordinator -> itself: the death of a worker has been noticed
struct worker_lost {
  rank who;
  std::uint32_t incarnation;
};

/// fault injector -> coordinator
struct kill_worker {
  rank who;
  bool comes_back; ///< a restart_worker will follow
};
struct restart_worker {
  rank who;
};
struct pause_worker {
  rank who;
  bool paused; ///< or to be resumed
};

/// any -> coordinator: worth a line to the observer
struct run_event {
  std::string what;
};

/// coordinator -> worker: neither compute nor answer until told to resume
struct pause_work {};
struct resume_work {};

/// driver of a GPU -> compute actor: what was queued is done, or has failed
struct gradient_done {};

/// worker -> itself: look which frames have to be sent again
struct repeat_frames {};

/// a world's clock -> the actor that does what was put off
struct postponed {
  std::function<void()> what;
};

/// worker -> itself: the work is done that messages have waited for
struct work_done {};

/// coordinator -> worker; answered by snapshot
struct snapshot_request {
  std::uint64_t evaluation;
};

/// coordinator -> worker: how many updates all workers have done
struct run_progress {
  std::uint64_t updates;
};

/// worker -> coordinator: its coroutines have ended
struct worker_finished {
  rank source;
  std::uint32_t incarnation;
};

/// coordinator -> evaluator; answered by evaluation_record
struct evaluate_models {
  evaluation_record record;
  std::vector<vec> models; ///< of all workers; or of all masters, the parts of one model
  bool parts = false;
};

/// coordinator -> itself
struct tick {};

/// any -> coordinator -> main
struct run_failed {
  errc code;
  std::string sentence, remedy;
};

/// The failure that an exception stands for, to be sent on.
run_failed describe(const std::exception_ptr& problem, const std::string& who);

/// From now on an exception in a handler of `self` is reported to `supervisor`, and ends `self`.
template <class Self>
void report_exceptions_to(Self* self, caf::actor supervisor, std::string who) {
  self->set_exception_handler([self, supervisor, who](std::exception_ptr& problem) -> caf::error {
    self->send(supervisor, describe(problem, who));
    return caf::sec::runtime_error;
  });
}

} // namespace gossamer::actors

// All of these stay inside one process and are never serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::frame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::step_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::snapshot)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_summary)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::evaluation_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::start_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::hold_steps)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::holding)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::proceed_with)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::worker_joined)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::worker_lost)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::kill_worker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::restart_worker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::pause_worker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_event)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::pause_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::resume_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::repeat_frames)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::postponed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::work_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::snapshot_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::worker_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::evaluate_models)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::meet_peers)
