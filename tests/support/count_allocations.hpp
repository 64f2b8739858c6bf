#pragma once

#include <cstddef>

namespace gossamer::support {

/// Returns how often this process has asked for heap memory so far, by operator new or by malloc. The program must be
/// linked with count_allocations.cpp. A sanitizer has its own malloc: with it only operator new counts.
std::size_t allocations() noexcept;

} // namespace gossamer::support
