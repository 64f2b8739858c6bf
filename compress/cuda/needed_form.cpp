#include "gossamer/compress/cuda/detail/needed_form.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::compress::cuda {

std::shared_ptr<const detail::packet_form> needed_form(const codec& c) {
  if (auto form = c.form())
    return form;
  std::vector<std::string_view> known; // the first example with a form of each codec
  for (const auto& entry : codecs())
    if (const auto found =
            std::ranges::find_if(entry.examples, [](const auto& spec) { return make_codec(spec)->form() != nullptr; });
        found != entry.examples.end())
      known.push_back(*found);
  throw error(errc::usage, fmt::format("codec '{}' cannot encode on a GPU", c.spelling()),
              fmt::format("those that can: {}", fmt::join(known, ", ")));
}

} // namespace gossamer::compress::cuda
