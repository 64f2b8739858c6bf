#include "gossamer/actors/collectives/one_bit_merge.hpp"

#include "gossamer/compress/sign_bits.hpp"

namespace gossamer::actors {

void one_bit_merge::begin(std::uint32_t) { words_.assign(compress::sign_words(size()), 0); }

std::span<std::uint64_t> one_bit_merge::words(segment s) {
  return std::span{words_}.subspan(s.begin / 64, compress::sign_words(s.size));
}

void one_bit_merge::load(segment s) { compress::pack_signs(s.of(std::as_const(own_)), words(s)); }

packet one_bit_merge::result(segment s) {
  auto pool = own_.pool();
  return compress::sign_packet(pool, words(s), s.size);
}

void one_bit_merge::expect(segment s, contributors of) {
  const bool in_column = of.own > 1; // where the worker merges elements for a second time
  transient_.resize(words(s).size());
  compress::draw_transient(words(s), of.received, of.own, s.size, random_, step_, s.begin + (in_column ? size() : 0),
                           transient_);
}

void one_bit_merge::merge(segment s, const packet& received, contributors) {
  received_.resize(transient_.size());
  compress::read_signs(received, s.size, received_);
  compress::merge_signs(received_, words(s), transient_, words(s));
}

void one_bit_merge::store(segment s, const packet& received) { compress::read_signs(received, s.size, words(s)); }

vec one_bit_merge::times(float magnitude) const {
  auto pool = own_.pool();
  vec values{pool, size()};
  compress::signs_to_values(words_, magnitude, values.overwrite());
  return values;
}

} // namespace gossamer::actors
