#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/compress/codec.hpp"

namespace gossamer::actors {

/// @param who the algorithm, or the part of it that uses the codec
/// @param known the codecs of the run
/// @error errc::usage if the codec lacks the property; names the property and the codecs that have it
void require(codec_need need, const compress::codec& c, std::string_view who, std::string_view codec_name,
             const registry<compress::codec_entry>& known);

/// @error as `require`, for a codec whose packets are to be summed without decoding
void require_linear(const compress::codec& c, std::string_view who, std::string_view codec_name,
                    const registry<compress::codec_entry>& known);

/// @error errc::usage if the codec needs whole vectors, for an algorithm that packs parts of them
void require_parts(const compress::codec& c, std::string_view who, std::string_view codec_name);

} // namespace gossamer::actors
