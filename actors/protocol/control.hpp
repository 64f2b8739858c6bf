#pragma once

// Messages between the nodes of a run while it goes on. Plain data without pointers or handles; `inspect` describes
// each message, as CAF asks for it. messages.hpp lists all that crosses machines besides frames.
#include "gossamer/actors/protocol/checkpoints.hpp"
#include "gossamer/actors/protocol/evaluation.hpp"
#include "gossamer/actors/protocol/run.hpp"
#include "gossamer/actors/protocol/steps.hpp"
#include "gossamer/actors/protocol/versions.hpp"
#include "gossamer/actors/protocol/workers.hpp"
