#include "gossamer/actors/collectives/dense_sum.hpp"

namespace gossamer::actors {

packet dense_sum::result(segment s) {
  auto pool = sum_.pool();
  return worker_.encode_exactly(vec{pool, s.of(sum_)});
}

void dense_sum::merge(segment s, const packet& received, contributors) {
  add(s.of(sum_), worker_.decode(received, s.size).view());
}

void dense_sum::store(segment s, const packet& received) {
  std::ranges::copy(worker_.decode(received, s.size).view(), s.of(sum_).begin());
}

task<vec> sum_of_all(worker& w, const vec& v, route way, std::uint64_t t) {
  dense_sum sum{w, v};
  co_await all_reduce(w, sum, way, t);
  co_return sum.sum();
}

task<vec> mean_of_all(worker& w, const vec& v, route way, std::uint64_t t) {
  vec mean = co_await sum_of_all(w, v, way, t);
  mean *= 1.0f / static_cast<float>(w.members().size());
  co_return mean;
}

} // namespace gossamer::actors
