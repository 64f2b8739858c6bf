#pragma once

#include "gossamer/compress/detail/packet_form.hpp"

namespace gossamer::compress::cuda {

/// Returns the form of the codec's packets.
/// @error errc::usage when it has none; lists the codecs that have one
std::shared_ptr<const detail::packet_form> needed_form(const codec& c);

} // namespace gossamer::compress::cuda
