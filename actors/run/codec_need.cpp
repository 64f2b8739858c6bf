#include "gossamer/actors/run/codec_need.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gossamer::actors {

namespace {

bool has_defaults(const compress::codec_entry& entry) {
  return std::ranges::none_of(entry.about.parameters, &parameter::required);
}

using property = bool (*)(const compress::capabilities&);

void require(property holds, std::string_view adjective, const compress::codec& c, std::string_view who,
             std::string_view codec_name, const registry<compress::codec_entry>& known) {
  if (holds(c.can()))
    return;
  std::vector<std::string> alternatives;
  for (const auto& entry : known)
    if (has_defaults(entry) && holds(compress::make_codec(entry.about.name, {}, known)->can()))
      alternatives.push_back(entry.about.name);
  throw error(errc::usage, fmt::format("{} needs a codec that is {}, and '{}' is not", who, adjective, codec_name),
              fmt::format("{}: {}", adjective, fmt::join(alternatives, ", ")));
}

} // namespace

void require(codec_need need, const compress::codec& c, std::string_view who, std::string_view codec_name,
             const registry<compress::codec_entry>& known) {
  if (need == codec_need::unbiased)
    require([](const auto& can) { return can.unbiased || can.unbiased_in_range; }, "unbiased", c, who, codec_name,
            known);
  if (need == codec_need::exact)
    require([](const auto& can) { return can.exact; }, "exact", c, who, codec_name, known);
}

void require_linear(const compress::codec& c, std::string_view who, std::string_view codec_name,
                    const registry<compress::codec_entry>& known) {
  require([](const auto& can) { return can.linear; }, "linear", c, who, codec_name, known);
}

void require_parts(const compress::codec& c, std::string_view who, std::string_view codec_name) {
  if (c.can().whole_vectors)
    throw error(errc::usage, fmt::format("{} packs parts of the vector, and '{}' needs it whole", who, codec_name),
                "use layout=flat, or another codec");
}

} // namespace gossamer::actors
