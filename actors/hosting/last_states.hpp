#pragma once

#include <caf/allowed_unsafe_message_type.hpp>

#include <cstddef>
#include <cstdint>

namespace gossamer::actors {

// Messages within one process for the case that too few nodes are left to go on with a run.

/// client -> node: too few nodes may be left to go on with the run; how far had this one come? Answered by
/// `what_is_left`, and by a `saved_worker` from each worker here.
struct save_what_is_left {};
struct what_is_left {
  std::size_t workers = 0;     ///< workers and masters that will answer; 0: enough nodes are left
  double time_s = 0;           ///< time of the run
  std::uint64_t gradients = 0; ///< those of all workers of the run, as far as this node knows
};
/// node -> worker: send the state as it stands; no step begins or ends after that
struct save_as_it_stands {};

} // namespace gossamer::actors

// None of these is ever serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::save_what_is_left)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::what_is_left)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gossamer::actors::save_as_it_stands)
