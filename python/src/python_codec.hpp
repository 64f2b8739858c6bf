#pragma once

#include "gossamer/base/vec.hpp"
#include "gossamer/compress/packet.hpp"

#include <cstdint>
#include <nanobind/nanobind.h>

namespace gossamer::python {

/// Defines the class Codec.
void bind_codec(nanobind::module_& m);

/// The vector, packed by an object of that class with the random numbers of this step.
/// @error errc::diverged when an element is not finite
compress::packet packed_by(nanobind::handle codec, const vec& v, std::uint64_t step);

} // namespace gossamer::python
