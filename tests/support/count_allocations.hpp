#pragma once

#include <cstddef>

namespace gossamer::support {

/// How often this process asked for heap memory so far, by operator new or by malloc. The program
/// must be linked with count_allocations.cpp. With a sanitizer, which has its own malloc, only
/// operator new counts.
std::size_t allocations() noexcept;

} // namespace gossamer::support
