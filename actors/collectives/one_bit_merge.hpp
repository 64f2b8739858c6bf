#pragma once

#include "gossamer/actors/collectives/all_reduce.hpp"
#include "gossamer/actors/collectives/packed_signs.hpp"

namespace gossamer::actors {

/// Merges the signs of all members' vectors into single bits. Each bit is the sign of a member drawn uniformly, element
/// by element: its mean over the draws is the mean of the signs, and a sign that all members share is kept.
///
/// This is Marsit's one-bit all-reduce (compress/sign_bits.hpp has the merge and the reference). A worker draws the
/// random half of a merge before the other side has come. Segments begin at multiples of 64 elements, whose signs share
/// a word.
///
/// The random numbers belong to (worker, round, element); those of the k-th direction after the first to element k D +
/// i, where D is rounded up to whole words. A repeated round uses the same numbers: no worker has seen their outcome
/// before. Cost: one bit an element and message.
class one_bit_merge final : public reduction {
public:
  /// @param v finite. @error errc::diverged here or by `all_reduce` if it is not
  one_bit_merge(const worker& w, const vec& v, std::uint64_t t) : worker_(w), step_(t), own_(w, v) {}

  std::size_t size() const override { return own_.size(); }
  std::size_t grain() const override { return 64; }
  void begin(std::uint32_t) override {
    signs_ = packed_signs{size()};
    weight_ = 1;
    direction_ = 0;
  }
  void load(segment s) override { own_.pack(s, signs_.of(s)); }
  packet partial(segment s, std::uint32_t) override { return result(s); }
  void expect(segment s, contributors of) override;
  void merge(segment s, packet received, contributors) override;
  packet result(segment s) override { return signs_.encode(s, own_.pool()); }
  void store(segment s, const packet& received) override { signs_.decode(s, received); }

  /// +1 or -1.
  vec values() const { return signs_.values(worker_, own_.pool()); }

private:
  const worker& worker_;
  std::uint64_t step_;
  own_signs own_;
  packed_signs signs_;
  std::uint32_t weight_ = 1; ///< of the worker's side, in this direction
  std::uint64_t direction_ = 0;
  std::vector<std::uint64_t> transient_, received_; ///< of the present merge
};

} // namespace gossamer::actors
