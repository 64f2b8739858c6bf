#pragma once

#include "gossamer/compute/dataset.hpp"

#include "fuzz/target.hpp"
#include "support/consistent_data.hpp"

namespace gossamer::fuzz {

/// Loads the data of a spec. They are refused as damaged or as a wrong request, or are consistent.
inline void load(const std::string& spec) {
  accepts({errc::bad_data, errc::usage}, [&] {
    const auto problem = test::inconsistency_of(compute::load_data(spec, 1));
    GOSSAMER_ASSERT(problem.empty(), "what is loaded is consistent");
  });
}

} // namespace gossamer::fuzz
