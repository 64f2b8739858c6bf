#pragma once

#include <nanobind/nanobind.h>

namespace gossamer::python {

/// Defines the class Codec.
void bind_codec(nanobind::module_& m);

} // namespace gossamer::python
