#include "gossamer/compress/cuda/detail/device_form.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>

namespace gossamer::compress::cuda {
namespace {

using numbers = detail::level_form::numbers;
using form = decltype(device_form::how);

std::uint64_t natural(const arguments& given, std::string_view key) {
  return static_cast<std::uint64_t>(given.integer(key));
}

std::optional<form> uniform(const arguments& given) {
  const int bits = static_cast<int>(given.integer("bits"));
  return level_codec{.parameter = static_cast<std::uint8_t>(bits),
                     .numbers = numbers::uniform_scale,
                     .bits = bits,
                     .rule = {.what = scale_rule::kind::uniform, .bits = bits},
                     .zero_in_scale_alone = true};
}

std::optional<form> min_max(const arguments& given) {
  const int bits = static_cast<int>(given.integer("bits"));
  const auto chunk = natural(given, "chunk");
  return level_codec{.parameter = static_cast<std::uint8_t>(bits),
                     .recipe = chunk == 0 ? std::vector<std::uint64_t>{} : std::vector{chunk},
                     .numbers = numbers::range,
                     .bits = bits,
                     .rule = {.what = scale_rule::kind::range, .bits = bits},
                     .row = chunk,
                     .nearest = given.is("rounding", "nearest")};
}

std::optional<form> qsgd(const arguments& given) {
  if (!given.is("code", "fixed"))
    return {};
  const auto levels = natural(given, "levels"), bucket = natural(given, "bucket");
  const auto norm = given.is("norm", "max") ? scale_rule::kind::largest_norm : scale_rule::kind::l2_norm;
  return level_codec{.recipe = {levels, bucket},
                     .numbers = numbers::norm,
                     .bits = 1 + static_cast<int>(std::bit_width(levels)),
                     .rule = {.what = norm, .levels = static_cast<int>(levels)},
                     .row = bucket};
}

std::optional<form> terngrad(const arguments& given) {
  const double clip = given.real("clip");
  const auto norm = clip > 0 ? scale_rule::kind::clipped : scale_rule::kind::largest_norm;
  return level_codec{.numbers = numbers::norm, .bits = 2, .rule = {.what = norm, .levels = 1, .clip = clip}};
}

std::optional<form> sign(const arguments&) { return sign_codec{.what = sign_codec::kind::plain}; }

std::optional<form> scaled_sign(const arguments&) {
  return sign_codec{.what = sign_codec::kind::scaled, .sends_magnitudes = true};
}

std::optional<form> ssdm(const arguments& given) {
  return sign_codec{
      .what = sign_codec::kind::random, .sends_magnitudes = given.is("norm", "sent"), .row = natural(given, "bucket")};
}

std::optional<form> grbs(const arguments&) { return shared_choice{.looks_at_all = false}; }

std::optional<form> random_choice(const arguments& given) {
  return given.is("indices", "seed") ? std::optional<form>{shared_choice{.looks_at_all = true}} : std::nullopt;
}

std::optional<form> top_k(const arguments& given) { return largest_choice{detail::kept_count{given}}; }

struct entry {
  std::string_view codec;
  std::string_view spelling; ///< for the list of those that have a form
  std::optional<form> (*make)(const arguments&);
};

constexpr std::array entries{
    entry{"uniform", "uniform", uniform},
    entry{"min-max", "min-max", min_max},
    entry{"qsgd", "qsgd:code=fixed", qsgd},
    entry{"terngrad", "terngrad", terngrad},
    entry{"sign", "sign", sign},
    entry{"scaled-sign", "scaled-sign", scaled_sign},
    entry{"ssdm", "ssdm", ssdm},
    entry{"grbs", "grbs", grbs},
    entry{"random-k", "random-k:indices=seed", random_choice},
    entry{"random-p", "random-p:indices=seed", random_choice},
    entry{"top-k", "top-k", top_k},
};

} // namespace

std::optional<device_form> find_device_form(const codec& c) {
  if (c.spelling().empty())
    return {};
  const auto [codec, values] = codecs().resolve(c.spelling());
  for (const auto& e : entries)
    if (e.codec == codec.about.name)
      if (auto how = e.make(values))
        return device_form{codec.wire_number, *std::move(how)};
  return {};
}

device_form device_form_of(const codec& c) {
  if (auto found = find_device_form(c))
    return *std::move(found);
  std::vector<std::string_view> known;
  for (const auto& e : entries)
    known.push_back(e.spelling);
  throw error(errc::usage, fmt::format("codec '{}' cannot encode on a GPU", c.spelling()),
              fmt::format("those that can: {}", fmt::join(known, ", ")));
}

} // namespace gossamer::compress::cuda
