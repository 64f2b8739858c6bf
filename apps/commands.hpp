#pragma once

#include <string>

#include "options.hpp"

namespace gossamer::apps {

/// `gossamer train`. @returns the exit status
int train(train_options options, bool json);

/// `gossamer list KIND`. @error errc::usage on an unknown kind
void list(const std::string& kind, bool json);

/// `gossamer explain NAME`: prints every registry entry of that name. @error errc::usage when there is none
void explain(const std::string& name);

} // namespace gossamer::apps
