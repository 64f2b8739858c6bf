#pragma once

#include "gossamer/apps/detail/processes.hpp"
#include "gossamer/base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>

namespace gossamer::apps {

/// Returns the result of the work of a process, or the error that ended it, as the text that `in_processes` brings.
/// Never throws.
std::string tell(const std::function<nlohmann::ordered_json()>& work);

/// Returns the error that ended the work, also when the process has crashed or took too long (errc::failed). If there
/// is none, `result` is the result of the work.
std::optional<error> understand(const process_end& end, nlohmann::ordered_json& result);

} // namespace gossamer::apps
