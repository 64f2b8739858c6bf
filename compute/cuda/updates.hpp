#pragma once

namespace gossamer::compute {

namespace detail {
class updates;
}

namespace cuda {

/// For `optimiser::update_with`: updates happen where the vectors are. The GPU that holds x, or else the gradient,
/// computes by one kernel that reads and writes each vector once; x and the state are there afterwards. The elements
/// are those that the processor computes (only a zero may have another sign). The processor computes if neither vector
/// is on a GPU.
///
/// Threads: any, several at once. It lives for ever.
/// @error by the optimiser: errc::failed when memory does not suffice, errc::device when the GPU fails
const detail::updates& updates_on_gpus() noexcept;

} // namespace cuda
} // namespace gossamer::compute
