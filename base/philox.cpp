#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/base/philox.cpp"
#include "gossamer/base/philox.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numbers>

HWY_BEFORE_NAMESPACE();
namespace gossamer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
// A single lane holds no pair of even and odd: the scalar code of the caller does it all.
std::size_t fill_whole(philox_key, std::uint64_t, std::uint64_t, std::uint32_t*, std::size_t) { return 0; }
#else
/// The words of as many counters as a register has 64-bit lanes; each lane has a word in its lower half. The one
/// multiplication that the rounds need (32x32 bits to 64) reads no more, so the upper halves are never cleared.
template <class V>
struct counters {
  V c0, c1, c2, c3;
};

/// Writes the words of consecutive counters from `group` on, `registers` of them at once: their rounds wait for each
/// other, and those of one counter for their products. The second word of all counters must be the same: what the first
/// rounds make of it and of the step is then computed once.
/// @returns how many groups: registers * lanes * (groups / (registers * lanes))
template <std::size_t registers>
std::size_t fill_registers(philox_key key, std::uint64_t step, std::uint64_t group, std::uint32_t* words,
                           std::size_t groups) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  const auto lanes = hn::Lanes(wide);
  const auto multiply = [&](std::uint32_t multiplier, auto x)
                            HWY_ATTR { return hn::BitCast(d, hn::MulEven(x, hn::Set(d, multiplier))); };
  // Even lanes hold the first half of the counters and odd lanes the second: interleaving, which
  // works within blocks of 128 bits, then puts them in order.
  const auto lane = hn::Iota(wide, 0);
  const auto odd = hn::And(lane, hn::Set(wide, 1));
  const auto index = hn::BitCast(
      d, hn::Add(hn::ShiftRight<1>(lane), hn::IfThenElseZero(hn::Ne(odd, hn::Zero(wide)), hn::Set(wide, lanes / 2))));
  const auto c1 = hn::Set(d, static_cast<std::uint32_t>(group >> 32));
  const auto c2 = hn::Set(d, static_cast<std::uint32_t>(step)), c3 = hn::Set(d, static_cast<std::uint32_t>(step >> 32));
  std::size_t done = 0;
  for (; done + registers * lanes <= groups; done += registers * lanes) {
    counters<hn::Vec<decltype(d)>> all[registers];
    for (std::size_t r = 0; r < registers; ++r)
      all[r] = {hn::Add(index, hn::Set(d, static_cast<std::uint32_t>(group + done + r * lanes))), c1, c2, c3};
    auto k = key;
    for (int round = 0; round < 10; ++round) {
      for (auto& c : all) {
        const auto p0 = multiply(0xD2511F53u, c.c0), p1 = multiply(0xCD9E8D57u, c.c2);
        c = {hn::Xor3(hn::Shuffle2301(p1), c.c1, hn::Set(d, k[0])), p1,
             hn::Xor3(hn::Shuffle2301(p0), c.c3, hn::Set(d, k[1])), p0};
      }
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    auto* to = words + 4 * done;
    for (const auto& c : all) {
      const auto c01 = hn::BitCast(wide, hn::OddEven(hn::Shuffle2301(c.c1), c.c0));
      const auto c23 = hn::BitCast(wide, hn::OddEven(hn::Shuffle2301(c.c3), c.c2));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, c01, c23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, c01, c23)), d, to + 2 * lanes);
      to += 4 * lanes;
    }
  }
  return done;
}

/// Writes the words of consecutive counters from `group` on, up to a carry into their second word.
/// @returns how many groups; the rest, and what follows a carry, is left to the scalar code of the caller
std::size_t fill_whole(philox_key key, std::uint64_t step, std::uint64_t group, std::uint32_t* words,
                       std::size_t groups) {
  const auto before_carry = (std::uint64_t{1} << 32) - static_cast<std::uint32_t>(group);
  const auto alike = static_cast<std::size_t>(std::min<std::uint64_t>(groups, before_carry));
  const auto done = fill_registers<3>(key, step, group, words, alike);
  return done + fill_registers<1>(key, step, group + done, words + 4 * done, alike - done);
}
#endif

} // namespace HWY_NAMESPACE
} // namespace gossamer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer {

HWY_EXPORT(fill_whole);

namespace {
philox_counter counter_of(std::uint64_t step, std::uint64_t group) {
  return {static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), static_cast<std::uint32_t>(step),
          static_cast<std::uint32_t>(step >> 32)};
}
} // namespace

random_stream::random_stream(std::uint64_t seed, std::uint32_t rank, purpose use) noexcept {
  const bool shared = use == purpose::shared_1 || use == purpose::shared_2;
  const auto derived = philox4x32_10({shared ? 0 : rank, static_cast<std::uint32_t>(use), 0x73736F67u, 0},
                                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  key_ = {derived[0], derived[1]};
}

std::uint32_t random_stream::word(std::uint64_t step, std::uint64_t i) const noexcept {
  return philox4x32_10(counter_of(step, i / 4), key_)[i % 4];
}

void random_stream::fill(std::uint64_t step, std::uint64_t first, std::span<std::uint32_t> words) const noexcept {
  const auto group = first / 4;
  const auto groups = words.size() / 4;
  for (std::size_t done = HWY_DYNAMIC_DISPATCH(fill_whole)(key_, step, group, words.data(), groups);
       4 * done < words.size(); ++done) {
    const auto values = philox4x32_10(counter_of(step, group + done), key_);
    for (std::size_t j = 0; j < 4 && 4 * done + j < words.size(); ++j)
      words[4 * done + j] = values[j];
  }
}

random_sequence::result_type random_sequence::operator()() noexcept {
  if (next_ % 4 == 0)
    group_ = philox4x32_10(counter_of(step_, next_ / 4), stream_.key());
  return group_[next_++ % 4];
}

double random_sequence::uniform_double() noexcept {
  const std::uint64_t high = (*this)();
  return static_cast<double>((high << 32 | (*this)()) >> 11) * 0x1p-53;
}

std::uint32_t random_sequence::below(std::uint32_t bound) noexcept {
  auto product = std::uint64_t{(*this)()} * bound;
  if (static_cast<std::uint32_t>(product) < bound)
    for (const auto biased = (0u - bound) % bound; static_cast<std::uint32_t>(product) < biased;)
      product = std::uint64_t{(*this)()} * bound;
  return static_cast<std::uint32_t>(product >> 32);
}

double random_sequence::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform_double()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform_double());
}

double random_sequence::gamma(double shape) noexcept {
  if (shape < 1) // the boost of section 6 of the paper
    return gamma(shape + 1) * std::pow(1.0 - uniform_double(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v > 0 && std::log(1.0 - uniform_double()) < 0.5 * x * x + d - d * v + d * std::log(v))
      return d * v;
  }
}

} // namespace gossamer
#endif
