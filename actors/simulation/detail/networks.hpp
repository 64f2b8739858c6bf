#pragma once

#include "gossamer/actors/simulation/network.hpp"

namespace gossamer::actors::detail {

// Functions rather than objects, so that the table does not depend on the order in which files are initialised.
network_entry wan_network();
network_entry matrix_network();
network_entry hosts_network();
network_entry islands_network();

/// The same link between any two nodes.
std::shared_ptr<const network> uniform_network(const link_quality& everywhere);

/// The names and ranges of a link's parameters, with these defaults.
std::vector<parameter> link_parameters(std::string latency, std::string bandwidth, std::string jitter);

} // namespace gossamer::actors::detail
