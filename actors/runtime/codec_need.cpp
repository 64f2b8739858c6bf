#include "gossamer/actors/runtime/codec_need.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::actors {

namespace {

void require(bool compress::capabilities::*property, std::string_view adjective, const compress::codec& c,
             std::string_view who, std::string_view codec_name) {
  if (c.can().*property)
    return;
  std::vector<std::string> alternatives;
  for (const auto& entry : compress::codecs())
    if (compress::make_codec(entry.about.name)->can().*property)
      alternatives.push_back(entry.about.name);
  throw error(errc::usage, fmt::format("{} needs a codec that is {}, and '{}' is not", who, adjective, codec_name),
              fmt::format("{}: {}", adjective, fmt::join(alternatives, ", ")));
}

} // namespace

void require(codec_need need, const compress::codec& c, std::string_view who, std::string_view codec_name) {
  if (need == codec_need::unbiased)
    require(&compress::capabilities::unbiased, "unbiased", c, who, codec_name);
  if (need == codec_need::exact)
    require(&compress::capabilities::exact, "exact", c, who, codec_name);
}

void require_linear(const compress::codec& c, std::string_view who, std::string_view codec_name) {
  require(&compress::capabilities::linear, "linear", c, who, codec_name);
}

} // namespace gossamer::actors
