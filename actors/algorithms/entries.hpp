#pragma once

#include "gossamer/actors/runtime/algorithm.hpp"

namespace gossamer::actors {

// One for each file in this folder; the table is registry.cpp.
extern const algorithm_entry ad_psgd_entry;
extern const algorithm_entry all_reduce_sgd_entry;
extern const algorithm_entry d_psgd_entry;

} // namespace gossamer::actors
