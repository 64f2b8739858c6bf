#pragma once

#include <cstdint>

namespace gossamer {

/// Counts the work of a thread in the quantities that its cost grows with, never by a clock: equal runs count the same
/// on every machine, wherever the vectors are. The simulated world charges virtual time for it.
class work_meter {
public:
  virtual ~work_meter() = default;
  /// Counts arithmetic with vectors that has read and written so many bytes, every operand as often as it is named.
  /// Copies that vectors make of shared storage are left out: they depend on the lifetime of other handles.
  virtual void arithmetic(std::uint64_t bytes) = 0;
  /// Counts random words that were drawn outside of codecs.
  virtual void drawing(std::uint64_t words) = 0;
  /// Counts a vector of so many floats that the codec with this wire number packed, or unpacked.
  virtual void encoding(std::uint8_t codec, std::uint64_t elements) = 0;
  virtual void decoding(std::uint8_t codec, std::uint64_t elements) = 0;
};

namespace detail {
inline constinit thread_local work_meter* present_meter = nullptr;
}

/// Reports the work of this thread to a meter during its lifetime; to none, if that is null. Objects nest.
class metered {
public:
  explicit metered(work_meter* meter) noexcept : before_(detail::present_meter) { detail::present_meter = meter; }
  ~metered() { detail::present_meter = before_; }
  metered(const metered&) = delete;
  metered& operator=(const metered&) = delete;

private:
  work_meter* before_;
};

// Without a meter, each of these functions costs a load and a branch.

inline void count_arithmetic(std::uint64_t bytes) {
  if (auto* meter = detail::present_meter)
    meter->arithmetic(bytes);
}
inline void count_drawing(std::uint64_t words) {
  if (auto* meter = detail::present_meter)
    meter->drawing(words);
}
inline void count_encoding(std::uint8_t codec, std::uint64_t elements) {
  if (auto* meter = detail::present_meter)
    meter->encoding(codec, elements);
}
inline void count_decoding(std::uint8_t codec, std::uint64_t elements) {
  if (auto* meter = detail::present_meter)
    meter->decoding(codec, elements);
}

} // namespace gossamer
