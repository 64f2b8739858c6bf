#pragma once

#include <cstddef>

namespace gossamer::actors {

/// Makes sure that this process may have so many more threads: makes them all, and lets them end. An actor whose thread
/// cannot be made still counts as one that lives, and its system would wait for its end for ever; so ask before.
/// @error errc::failed, with how many could be made
void require_threads(std::size_t count);

} // namespace gossamer::actors
