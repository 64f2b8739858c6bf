#include "gossamer/actors/collectives/one_bit_merge.hpp"

#include <utility>

namespace gossamer::actors {

void one_bit_merge::expect(segment s, contributors of) {
  if (std::exchange(weight_, of.own) != of.own)
    ++direction_; // the worker merges elements once more in each direction
  const auto local = signs_.of(s);
  transient_.resize(local.size());
  compress::draw_transient(local, of.received, of.own, s.size, worker_.random(purpose::merge), step_,
                           s.begin + 64 * direction_ * compress::sign_words(size()), transient_);
}

void one_bit_merge::merge(segment s, packet received, contributors) {
  received_.resize(transient_.size());
  compress::read_signs(received, s.size, received_);
  compress::merge_signs(received_, signs_.of(s), transient_, signs_.of(s));
}

} // namespace gossamer::actors
