#pragma once

#include "gossamer/apps/detail/processes.hpp"
#include "gossamer/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>

namespace gossamer::apps {

/// What the work of a process says, or the error that ended it, as the text that `in_processes` brings. Never throws.
std::string tell(const std::function<nlohmann::ordered_json()>& work);

/// The error that ended it, also when the process has crashed or took too long (errc::failed); none: `result` is what
/// it said.
std::optional<error> understand(const process_end& end, nlohmann::ordered_json& result);

} // namespace gossamer::apps
