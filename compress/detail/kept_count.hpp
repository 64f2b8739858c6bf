#pragma once

#include "gossamer/base/spec.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::compress::detail {

/// Number of elements that a codec keeps: a number or a share, given by its parameters `fraction` and `k`.
class kept_count {
public:
  static std::vector<parameter> parameters(std::string fraction = "0.01") {
    return {{.key = "fraction",
             .fallback = std::move(fraction),
             .meaning = "share of the elements that are kept",
             .min = 1e-6,
             .max = 1},
            {.key = "k",
             .kind = parameter::type::integer,
             .fallback = "0",
             .meaning = "how many elements are kept; 0: as the fraction says",
             .min = 0}};
  }

  explicit kept_count(const arguments& given)
      : fraction_(given.real("fraction")), k_(static_cast<std::size_t>(given.integer("k"))) {}

  /// Returns at least 1 and at most all.
  std::size_t of(std::size_t elements) const {
    const auto rounded = static_cast<std::size_t>(std::floor(fraction_ * static_cast<double>(elements) + 0.5));
    return std::min(elements, k_ > 0 ? k_ : std::max<std::size_t>(1, rounded));
  }

  double share(std::size_t elements) const {
    return elements == 0 ? 1 : static_cast<double>(of(elements)) / static_cast<double>(elements);
  }

  /// True if all elements of any vector are kept.
  bool is_all() const { return k_ == 0 && fraction_ == 1; }

private:
  double fraction_;
  std::size_t k_;
};

} // namespace gossamer::compress::detail
