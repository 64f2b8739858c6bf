#pragma once

#include <cstdint>

namespace gossamer::actors {

/// The version of these messages: nodes that differ in it must not talk to each other. Raised with every change of a
/// message of this folder.
inline constexpr std::uint32_t control_version = 16;

} // namespace gossamer::actors
