#pragma once

#include "gossamer/actors/collectives/all_reduce.hpp"

#include <optional>

namespace gossamer::actors {

/// The sum of all members' vectors in 32-bit floats. Partial sums travel uncompressed: a lossy codec would compress
/// them again at every hop. On a ring, segment k is summed in the order k, k + 1, ...
/// Cost: 32 bits an element and message.
class dense_sum : public reduction {
public:
  dense_sum(const worker& w, const vec& v) : worker_(w), own_(v) {}

  std::size_t size() const override { return own_.size(); }
  std::size_t slice_elements() const override { return slice_bytes / sizeof(float); }
  void begin(std::uint32_t) override;
  packet partial(segment s, std::uint32_t) override;
  void merge(segment s, packet received, contributors) override;
  void complete(segment s) override;
  packet result(segment s) override;
  void store(segment s, const packet& received) override;

  /// The sum, where segments are complete or stored; elsewhere unspecified.
  const vec& sum() const noexcept { return sum_; }

protected:
  /// The value of the segment so far; at first the worker's own part.
  vec value(segment s) const;

private:
  /// A received part with the worker's own part added in place: it is sent on without a copy.
  struct piece {
    segment where;
    vec sum;
  };
  std::optional<vec> take_piece(segment s);

  const worker& worker_;
  vec own_, sum_;
  std::vector<piece> pieces_; ///< later ones replace earlier ones
  std::vector<piece> complete_;
};

/// The sum of all members' v, the same bits on every member: see `all_reduce`.
task<vec> sum_of_all(worker& w, const vec& v, route way, std::uint64_t t);
/// (1/n) times that sum, for the n members of the view in which the round has succeeded.
task<vec> mean_of_all(worker& w, const vec& v, route way, std::uint64_t t);
/// One attempt, among these members: see `try_all_reduce`.
task<std::optional<vec>> try_mean(worker& w, member_group among, vec v, route way, std::uint64_t t,
                                  std::uint32_t lane = 0);

} // namespace gossamer::actors
