#include "gossamer/actors/collectives/sign_sum.hpp"

namespace gossamer::actors {

using compress::sign_sums;

// -- the sums on their way --------------------------------------------------------------------------------------------

void sign_reduction::begin(std::uint32_t members) {
  pieces_.clear();
  members_ = members;
}

void sign_reduction::load(segment s) {
  std::vector<std::uint64_t> words(compress::sign_words(s.size));
  own_.pack(s, words);
  auto pool = own_.pool();
  pieces_.push_back({s, sign_sums(pool, words, s.size)});
}

sign_sums sign_reduction::value(segment s, std::uint32_t weight) const {
  if (s.size == 0)
    return {own_.pool(), 0, weight};
  const auto found = std::find_if(pieces_.rbegin(), pieces_.rend(), [s](const piece& p) { return p.where.holds(s); });
  return found->sums.slice(s.begin - found->where.begin, s.size);
}

void sign_reduction::merge(segment s, packet received, contributors of) {
  auto sums = sign_sums::decode(received, s.size, of.received);
  sums += value(s, of.own);
  pieces_.push_back({s, std::move(sums)});
}

vec sign_reduction::own_values() const {
  packed_signs signs{size()};
  own_.pack({0, size()}, signs.of({0, size()}));
  return signs.values(worker_, own_.pool());
}

// -- the sums as a result ---------------------------------------------------------------------------------------------

void sign_sum::begin(std::uint32_t members) {
  sign_reduction::begin(members);
  total_.emplace(own_.pool(), size(), members);
}

void sign_sum::store(segment s, const packet& received) {
  total_->replace(s.begin, sign_sums::decode(received, s.size, members_));
}

vec sign_sum::values() const {
  vec result{own_.pool().allocate(size() * sizeof(float))};
  total_->to_values(1, result.overwrite());
  return result;
}

parameter coding_parameter() {
  return {.key = "coding",
          .kind = parameter::type::choice,
          .fallback = "fixed",
          .meaning = "how sums of signs travel: all in equal widths, in Elias' gamma code, or in whichever is shorter "
                     "for so many workers",
          .choices = {"fixed", "elias", "shorter"}};
}

compress::sign_sum_code coding_of(const arguments& given) {
  if (given.is("coding", "elias"))
    return compress::sign_sum_code::elias;
  return given.is("coding", "shorter") ? compress::sign_sum_code::shorter : compress::sign_sum_code::fixed;
}

} // namespace gossamer::actors
