#pragma once

#include <cstddef>

namespace gossamer::actors {

/// Makes sure that this process may have so many more threads, each of which allocates memory: makes them all, and lets
/// them end. Call it before the actors are made: an actor whose thread cannot be made still counts as alive, and its
/// system would wait for its end for ever.
/// @error errc::failed, with the number that could be made
void require_threads(std::size_t count);

} // namespace gossamer::actors
