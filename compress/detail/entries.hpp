#pragma once

#include "gossamer/compress/codec.hpp"

// One function per codec file; registry.cpp puts them into the table.
namespace gossamer::compress::detail {

codec_entry bfloat16_codec();
codec_entry identity_codec();
codec_entry uniform_codec();
codec_entry min_max_codec();
codec_entry thresholds_codec();
codec_entry e3m0_codec();
codec_entry fixed_grid_codec();
codec_entry qsgd_codec();
codec_entry terngrad_codec();
codec_entry sign_codec();
codec_entry scaled_sign_codec();
codec_entry ssdm_codec();
codec_entry random_p_codec();
codec_entry optimal_p_codec();
codec_entry top_k_codec();
codec_entry chunked_top_k_codec();
codec_entry random_k_codec();
codec_entry grbs_codec();

} // namespace gossamer::compress::detail
