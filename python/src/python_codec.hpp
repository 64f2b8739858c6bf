#pragma once

#include "gossamer/base/vec.hpp"
#include "gossamer/compress/packet.hpp"

#include <cstdint>
#include <functional>
#include <nanobind/nanobind.h>

namespace gossamer::python {

/// Defines the class Codec.
void bind_codec(nanobind::module_& m);

/// Packs a vector with the random numbers of a step. @error errc::diverged when an element is not finite
using packer = std::function<compress::packet(const vec&, std::uint64_t step)>;

/// The packer that an object of that class is. It needs no interpreter, and the object outlives it.
packer packer_of(nanobind::handle codec);

} // namespace gossamer::python
