#pragma once

#include "gossamer/actors/collectives/ring.hpp"
#include "gossamer/base/registry.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace gossamer::actors {

/// The P fragments of a model whose exchanges take turns: consecutive elements, as many in each. A worker sends each of
/// them once in H of its steps, fragment p when the number of steps that it has done is floor(H p / P) mod H, and has
/// the answer tau steps later. One fragment at a time is under way.
class fragments {
public:
  /// @param given the parameters of `with_fragments`, and `period`
  /// @param algorithm for the error's sentence
  /// @error errc::usage unless P <= H and tau < H / P
  fragments(const arguments& given, std::string_view algorithm);

  /// P
  std::uint64_t count() const noexcept { return count_; }
  /// tau
  std::uint64_t overlap() const noexcept { return overlap_; }
  /// The fragment that leaves after this number of steps.
  std::optional<std::uint64_t> leaving(std::uint64_t done) const;
  /// The fragment whose answer is due then.
  std::optional<std::uint64_t> due(std::uint64_t done) const {
    return done < overlap_ ? std::nullopt : leaving(done - overlap_);
  }

  /// The first number of steps from this one on after which an answer is due. Requires less than 2^63.
  std::uint64_t next_due(std::uint64_t done) const;

  segment place(std::uint64_t p, std::size_t size) const noexcept { return segment{0, size}.part(p, count_); }
  vec of(const vec& whole, std::uint64_t p) const;
  void put(vec& whole, std::uint64_t p, const vec& fragment) const;

  /// x_p <- alpha x_p + (1 - alpha) theta_p, in the whole x. @param own_share alpha
  void mix(vec& x, std::uint64_t p, const vec& fragment, float own_share) const;

private:
  /// The place of fragment p in a period; of fragment P, the beginning of the next one.
  std::uint64_t turn_of(std::uint64_t p) const noexcept { return period_ * p / count_; }
  /// The first fragment whose turn does not come before this place in a period; P: there is none.
  std::uint64_t first_from(std::uint64_t place) const noexcept { return (place * count_ + period_ - 1) / period_; }

  std::uint64_t period_, count_, overlap_;
};

/// An algorithm's own parameters, `period` among them, followed by `fragments`, `overlap` and `own-share`.
/// @param most fragments
std::vector<parameter> with_fragments(std::vector<parameter> own, double most = 1e6);

} // namespace gossamer::actors
