#include "gossamer/compress/cuda/detail/packet_contents.hpp"

#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

#include <cmath>

namespace gossamer::compress::cuda {
namespace {

std::string_view codec_name(const packet& p) {
  for (const auto& entry : codecs())
    if (entry.wire_number == p.codec)
      return entry.about.name;
  return {};
}

/// Levels may lie beyond the largest float; then the processor says whether any is sent.
std::optional<packet_contents> uniform(const packet& p) {
  const auto levels = detail::read_uniform(p);
  if (std::isfinite(std::ldexp(*levels.numbers, levels.form.bits - 1)))
    return levels;
  return {};
}

selection with_values(const packet& p, selection kept) {
  detail::expect_bits(p, 32 * std::uint64_t{kept.size()});
  return kept;
}

sent_places places(const packet& p) {
  detail::expect_recipe(p, 0);
  const int bits = detail::place_bits(p.elements);
  return {detail::read_count(p, 0, 32 + bits), bits};
}

} // namespace

std::optional<packet_contents> contents_of(const packet& p) {
  const auto name = codec_name(p);
  if (name == "uniform")
    return uniform(p);
  if (name == "min-max")
    return detail::read_min_max(p);
  if (name == "qsgd" && p.parameter == 0)
    return detail::read_qsgd(p);
  if (name == "terngrad")
    return detail::read_terngrad(p);
  if (name == "sign")
    return detail::read_sign(p);
  if (name == "scaled-sign")
    return detail::read_scaled_sign(p);
  if (name == "ssdm")
    return detail::read_ssdm(p);
  if (name == "grbs")
    return with_values(p, detail::read_grbs(p));
  if (name == "random-k" && p.parameter == detail::places_redrawn)
    return with_values(p, detail::read_random_k(p));
  if ((name == "top-k" || name == "random-k" || name == "random-p") && p.parameter == detail::places_sent)
    return places(p);
  return {};
}

} // namespace gossamer::compress::cuda
