#pragma once

#include "gossamer/actors/collectives/all_reduce.hpp"
#include "gossamer/actors/collectives/packed_signs.hpp"
#include "gossamer/compress/sign_sums.hpp"

namespace gossamer::actors {

/// Adds up the signs of all members' vectors; 0 and -0 count as +1. A message that stands for k workers holds sums of k
/// signs, wider the larger k is: ceil(log2(k + 1)) bits an element in the fixed code. Segments begin at multiples of 64
/// elements, whose signs share a word.
class sign_reduction : public reduction {
public:
  /// @param v finite. @error errc::diverged here or by `all_reduce` if it is not
  sign_reduction(const worker& w, const vec& v, compress::sign_sum_code code)
      : sign_reduction(w, own_signs{w, v}, code) {}
  sign_reduction(const worker& w, own_signs own, compress::sign_sum_code code)
      : worker_(w), own_(std::move(own)), code_(code) {}

  std::size_t size() const override { return own_.size(); }
  std::size_t grain() const override { return 64; }
  void begin(std::uint32_t members) override;
  void load(segment s) override;
  packet partial(segment s, std::uint32_t weight) override { return value(s, weight).encode(code_); }
  void merge(segment s, packet received, contributors of) override;

  /// This worker's own signs: +1 or -1.
  vec own_values() const;

protected:
  compress::sign_sums value(segment s, std::uint32_t weight) const;

  const worker& worker_;
  own_signs own_;
  compress::sign_sum_code code_;
  std::uint32_t members_ = 0;

private:
  struct piece {
    segment where;
    compress::sign_sums sums;
  };
  std::vector<piece> pieces_; ///< later ones replace earlier ones
};

/// A reduction whose result is the sums of the signs.
class sign_sum final : public sign_reduction {
public:
  using sign_reduction::sign_reduction;

  void begin(std::uint32_t members) override;
  void complete(segment s) override { total_->replace(s.begin, value(s, members_)); }
  packet result(segment s) override { return total_->slice(s.begin, s.size).encode(code_); }
  void store(segment s, const packet& received) override;

  /// The sums of the signs.
  vec values() const;

private:
  std::optional<compress::sign_sums> total_;
};

/// A reduction whose result is the signs of the sums, in one bit an element. A tie is a +1.
class sign_majority final : public sign_reduction {
public:
  using sign_reduction::sign_reduction;

  void begin(std::uint32_t members) override {
    sign_reduction::begin(members);
    signs_ = packed_signs{size()};
  }
  void complete(segment s) override { value(s, members_).majority(signs_.of(s)); }
  packet result(segment s) override { return signs_.encode(s, own_.pool()); }
  void store(segment s, const packet& received) override { signs_.decode(s, received); }

  /// +1 or -1.
  vec values() const { return signs_.values(worker_, own_.pool()); }

private:
  packed_signs signs_;
};

/// A parameter for the code of sign sums, `coding`, and its value.
parameter coding_parameter();
compress::sign_sum_code coding_of(const arguments& given);

} // namespace gossamer::actors
