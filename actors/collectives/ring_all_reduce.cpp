#include "gossamer/actors/collectives/ring_all_reduce.hpp"

#include "gossamer/actors/collectives/dense_sum.hpp"

namespace gossamer::actors {

task<vec> ring_all_reduce(worker& w, const vec& v, std::uint64_t t) { return sum_of_all(w, v, route::ring, t); }

} // namespace gossamer::actors
