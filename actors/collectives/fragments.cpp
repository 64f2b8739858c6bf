#include "gossamer/actors/collectives/fragments.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

fragments::fragments(const arguments& given, std::string_view algorithm) {
  const auto number = [&](const char* key) { return static_cast<std::uint64_t>(given.integer(key)); };
  period_ = number("period"), count_ = number("fragments"), overlap_ = number("overlap");
  if (count_ > period_)
    throw error(errc::usage, fmt::format("{} is given period={} and fragments={}", algorithm, period_, count_),
                "a fragment needs a step of its own: have at most as many as the period has steps");
  if (overlap_ >= period_ / count_)
    throw error(errc::usage,
                fmt::format("{} is given period={}, fragments={} and overlap={}: a fragment would leave before the one "
                            "before it has arrived",
                            algorithm, period_, count_, overlap_),
                fmt::format("overlap is below period / fragments = {}", period_ / count_));
}

std::optional<std::uint64_t> fragments::leaving(std::uint64_t done) const {
  const auto p = first_from(done % period_);
  return done > 0 && p < count_ && turn_of(p) == done % period_ ? std::optional{p} : std::nullopt;
}

std::uint64_t fragments::next_due(std::uint64_t done) const {
  const auto left = std::max<std::uint64_t>(done, overlap_ + 1) - overlap_; // the answer is of a fragment that left
  return overlap_ + left - left % period_ + turn_of(first_from(left % period_));
}

vec fragments::of(const vec& whole, std::uint64_t p) const {
  auto pool = whole.pool();
  return vec{pool, place(p, whole.size()).of(whole)};
}

void fragments::put(vec& whole, std::uint64_t p, const vec& fragment) const {
  std::ranges::copy(fragment.view(), place(p, whole.size()).of(whole).begin());
}

void fragments::mix(vec& x, std::uint64_t p, const vec& fragment, float own_share) const {
  vec mixed = own_share * of(x, p);
  mixed += (1 - own_share) * fragment;
  put(x, p, mixed);
}

std::vector<parameter> with_fragments(std::vector<parameter> own, double most) {
  own.push_back({.key = "fragments",
                 .kind = parameter::type::integer,
                 .fallback = "2",
                 .meaning = "P, at most H",
                 .min = 1,
                 .max = most});
  own.push_back({.key = "overlap",
                 .kind = parameter::type::integer,
                 .fallback = "1",
                 .meaning = "tau, in steps, below H / P",
                 .min = 0,
                 .max = 1e9});
  own.push_back({.key = "own-share",
                 .kind = parameter::type::real,
                 .fallback = "0.5",
                 .meaning = "alpha, the share of its own elements that a worker keeps",
                 .min = 0,
                 .max = 1});
  return own;
}

} // namespace gossamer::actors
