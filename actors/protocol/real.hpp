#pragma once

#include <bit>
#include <cstdint>

namespace gossamer::actors {

/// A number that travels as its bits: CAF 0.17.6 never finishes writing an infinite one.
class real {
public:
  real(double value) noexcept : bits_(std::bit_cast<std::uint64_t>(value)) {} // NOLINT(google-explicit-constructor)
  operator double() const noexcept { return std::bit_cast<double>(bits_); }   // NOLINT(google-explicit-constructor)

  template <class Inspector>
  friend decltype(auto) inspect(Inspector& f, real& r) {
    return f(r.bits_);
  }

private:
  std::uint64_t bits_;
};

} // namespace gossamer::actors
