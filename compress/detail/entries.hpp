#pragma once

#include "gossamer/compress/codec.hpp"

// One function per codec file; registry.cpp puts them into the table.
namespace gossamer::compress::detail {

codec_entry identity_codec();
codec_entry uniform_codec();

} // namespace gossamer::compress::detail
