#include "gossamer/actors/run/codec_need.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::actors {

namespace {

using property = bool (*)(const compress::capabilities&);

void require(property holds, std::string_view adjective, const compress::codec& c, std::string_view who,
             std::string_view codec_name) {
  if (holds(c.can()))
    return;
  std::vector<std::string> alternatives;
  for (const auto& entry : compress::codecs())
    if (holds(compress::make_codec(entry.about.name)->can()))
      alternatives.push_back(entry.about.name);
  throw error(errc::usage, fmt::format("{} needs a codec that is {}, and '{}' is not", who, adjective, codec_name),
              fmt::format("{}: {}", adjective, fmt::join(alternatives, ", ")));
}

} // namespace

void require(codec_need need, const compress::codec& c, std::string_view who, std::string_view codec_name) {
  if (need == codec_need::unbiased)
    require([](const auto& can) { return can.unbiased || can.unbiased_in_range; }, "unbiased", c, who, codec_name);
  if (need == codec_need::exact)
    require([](const auto& can) { return can.exact; }, "exact", c, who, codec_name);
}

void require_linear(const compress::codec& c, std::string_view who, std::string_view codec_name) {
  require([](const auto& can) { return can.linear; }, "linear", c, who, codec_name);
}

} // namespace gossamer::actors
