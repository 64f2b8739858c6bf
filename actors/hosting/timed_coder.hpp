#pragma once

#include "gossamer/compress/coder.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace gossamer::actors {

enum class coding { encode, decode };

/// Called when a coder has encoded or decoded something, with the time that it took.
using on_coding = std::function<void(coding what, std::chrono::nanoseconds took)>;

/// Returns a coder that does what another one does, and tells how long each call took by this clock. Vectors on a GPU
/// are packed after these calls have returned, and only the calls are measured. Threads: as the other coder, if the
/// functions are.
std::shared_ptr<const compress::coder> timed(std::shared_ptr<const compress::coder> inner,
                                             std::function<std::chrono::nanoseconds()> clock, on_coding told);

} // namespace gossamer::actors
