#pragma once

#include "gossamer/base/setting.hpp"

#include <vector>

namespace gossamer::topology {

/// The keys of a table `[[host]]` that matter to launches alone. Simulations read the same files, and pass these over.
const std::vector<setting_key>& launch_keys();

} // namespace gossamer::topology
