#pragma once

#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"
#include "gossamer/compress/detail/kept_count.hpp"

#include <optional>
#include <variant>

namespace gossamer::compress::cuda {

/// Codes of evenly spaced levels: uniform, min-max, qsgd with codes of fixed length, terngrad.
struct level_codec {
  std::uint8_t parameter = 0;
  std::vector<std::uint64_t> recipe = {};
  detail::level_form::numbers numbers;
  int bits;
  scale_rule rule;
  std::uint64_t row = 0; ///< elements that share their numbers; 0: all
  bool nearest = false;
  bool zero_in_scale_alone = false; ///< no codes follow when all numbers are 0
};

/// One bit an element: sign, scaled-sign, ssdm.
struct sign_codec {
  enum class kind : std::uint8_t { plain, scaled, random };

  kind what;
  bool sends_magnitudes = false;
  std::uint64_t row = 0; ///< elements that share a magnitude; 0: all
};

/// Elements that all workers choose alike: grbs, and random-k, random-p with indices=seed.
struct shared_choice {
  bool looks_at_all; ///< whether elements that are not kept must be finite too
};

/// top-k.
struct largest_choice {
  detail::kept_count kept;
};

/// What a GPU does for a codec. The codec itself encodes empty vectors and draws what is drawn alike.
struct device_form {
  std::uint8_t wire_number;
  std::variant<level_codec, sign_codec, shared_choice, largest_choice> how;
};

/// None for codecs that only processors know, and those that `make_codec` has not made.
std::optional<device_form> find_device_form(const codec& c);
/// @error errc::usage when there is none; lists the codecs that have one
device_form device_form_of(const codec& c);

} // namespace gossamer::compress::cuda
