#pragma once

#include "gossamer/actors/evaluation/mean_gathering.hpp"
#include "gossamer/actors/frames/roster.hpp"
#include "gossamer/actors/hosting/interface.hpp"
#include "gossamer/actors/protocol/control.hpp"
#include "gossamer/actors/run/checkpoint.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/actors/worker/orders.hpp"
#include "gossamer/actors/worker/worker.hpp"

#include <caf/all.hpp>

namespace gossamer::actors {

// Messages that stay in one process: they share memory, or name actors. Messages that cross machines are in protocol/
// and frames/.

/// node -> worker; main -> node
struct start_run {};

/// node -> worker: the lives that are there
struct meet_peers {
  std::shared_ptr<const roster> who;
};

/// node -> worker: a `decision`, with the view and the roster that all workers of the process share
struct proceed_with {
  std::shared_ptr<const view> next; ///< may be null: nothing changes
  std::shared_ptr<const roster> who;
  std::uint64_t limit;       ///< no step from this one on begins
  std::uint64_t save_at = 0; ///< as in decision
  parting leaving = {};      ///< as in decision
};

/// node -> worker, worker -> compute actor: neither compute nor answer until told to resume. Pauses do not overlap.
struct pause_work {};
struct resume_work {};

/// driver of a GPU -> compute actor: the queued work is done, or has failed
struct gradient_done {};

/// worker -> itself: find the frames that have to be sent again
struct repeat_frames {
  std::chrono::nanoseconds due{}; ///< when the first of them were due, as far as the worker knew
};

/// worker -> itself: the end of a pause
struct wake_up {};

/// carrier of frames -> worker: fewer of its bytes are under way
struct more_room {};

/// a world's clock -> the actor that does postponed work
struct postponed {
  std::function<void()> what;
};

/// worker -> itself: the work that messages have waited for is done
struct work_done {};

/// node -> evaluator; answered by `evaluated` where the leader is
struct evaluate_models {
  mean_job what;
  evaluation_record record = {}; ///< fields that are known before
};

/// evaluator -> node
struct evaluated {
  std::uint64_t number = 0; ///< number of the job
  evaluation_record record;
};

/// writer of checkpoints -> node: this one is complete
struct manifest_saved {
  manifest whole;
};

/// node -> itself
struct tick {};

/// Returns the failure that an exception stands for, to be sent on.
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

// None of these is ever serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::frame)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::step_report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::snapshot)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::saved_worker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::manifest_saved)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_summary)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::evaluated)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::start_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::proceed_with)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::pause_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::resume_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::repeat_frames)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::wake_up)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::more_room)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::postponed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::work_done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::evaluate_models)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::meet_peers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::hold_steps)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::worker_holds)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::gradient_applied)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::start_worker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::stop_worker)
