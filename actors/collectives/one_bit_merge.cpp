#include "gossamer/actors/collectives/one_bit_merge.hpp"

namespace gossamer::actors {

void one_bit_merge::expect(segment s, contributors of) {
  const bool in_column = of.own > 1; // where the worker merges elements for a second time
  const auto local = signs_.of(s);
  transient_.resize(local.size());
  compress::draw_transient(local, of.received, of.own, s.size, worker_.random(purpose::merge), step_,
                           s.begin + (in_column ? size() : 0), transient_);
}

void one_bit_merge::merge(segment s, const packet& received, contributors) {
  received_.resize(transient_.size());
  compress::read_signs(received, s.size, received_);
  compress::merge_signs(received_, signs_.of(s), transient_, signs_.of(s));
}

} // namespace gossamer::actors
