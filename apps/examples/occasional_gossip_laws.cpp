// The laws that the built-in algorithms keep, for the one of occasional_gossip.hpp.
#include "gossamer/testing/algorithm_laws.hpp"

#include <array>

#include "occasional_gossip.hpp"

// snippet laws begin
namespace gossamer::actors {

const std::array own_algorithms{own::entry()};

INSTANTIATE_TEST_SUITE_P(own, algorithm_law, testing::ValuesIn(algorithm_cases(own_algorithms)), law_name);

} // namespace gossamer::actors
// snippet laws end
