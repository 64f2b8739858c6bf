#pragma once

#include "gossamer/apps/reproductions/detail/findings.hpp"

namespace gossamer::apps {

// Functions rather than objects, so that the table does not depend on the order in which files are initialised.
reproduction tang2018_figure1(bool quick);

} // namespace gossamer::apps
