#pragma once

#include "gossamer/actors/fetch/catalogue.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <functional>

namespace gossamer::actors {

/// Hands the files of a run out to nodes that lack them. Reads from the disk in a thread of its own.
/// @param find names the files, when a node asks for the first time
caf::actor spawn_file_server(caf::actor_system& system, std::function<compute::data_files()> find);

} // namespace gossamer::actors
