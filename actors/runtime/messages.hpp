#pragma once

#include "gossamer/actors/runtime/worker.hpp"
#include "gossamer/actors/telemetry/record.hpp"
#include "gossamer/base/error.hpp"

#include <caf/all.hpp>

namespace gossamer::actors {

// Control messages of one process. Data travels as `frame`.

/// coordinator -> worker; main -> coordinator
struct start_run {};

/// worker -> compute; answered by gradient_result
struct gradient_job {
  std::uint64_t step;
  vec x;
};

/// coordinator -> worker, see worker::hold; answered by holding
struct hold_steps {};
struct holding {
  std::uint64_t step;
};

/// coordinator -> worker, see worker::stop_at
struct stop_at_step {
  std::uint64_t step;
};

/// coordinator -> worker; answered by snapshot
struct snapshot_request {
  std::uint64_t evaluation;
};

/// coordinator -> worker: how many updates all workers have done
struct run_progress {
  std::uint64_t updates;
};

/// worker -> coordinator
struct worker_finished {
  rank source;
  std::uint64_t steps;
  vec model;
  traffic sent;
};

/// coordinator -> evaluator; answered by evaluation_record
struct evaluate_models {
  evaluation_record record;
  std::vector<vec> models;
};

/// coordinator -> itself
struct tick {};

/// any -> coordinator -> main
struct run_failed {
  errc code;
  std::string sentence, remedy;
};

/// main -> worker, coordinator: who takes part. One list for all: a copy each would grow with the square of the workers
struct peers {
  std::shared_ptr<const std::vector<caf::actor>> workers;
  caf::actor evaluator;
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::hold_steps)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::holding)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::stop_at_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::snapshot_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::worker_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::evaluate_models)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::run_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::peers)
