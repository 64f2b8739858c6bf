#include "gossamer/base/check_entry.hpp"
#include "gossamer/compress/codec.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/packet_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace gossamer::compress {

const registry<codec_entry>& codecs() {
  static const std::array entries{
      detail::identity_codec(),   detail::bfloat16_codec(),  detail::uniform_codec(),     detail::min_max_codec(),
      detail::thresholds_codec(), detail::e3m0_codec(),      detail::fixed_grid_codec(),  detail::qsgd_codec(),
      detail::terngrad_codec(),   detail::sign_codec(),      detail::scaled_sign_codec(), detail::ssdm_codec(),
      detail::random_p_codec(),   detail::optimal_p_codec(), detail::top_k_codec(),       detail::chunked_top_k_codec(),
      detail::random_k_codec(),   detail::grbs_codec(),
  };
  static const registry<codec_entry> table{"codec", entries};
  return table;
}

void check_table(const registry<codec_entry>& known) {
  const auto built_in = codecs().names(), names = known.names();
  for (const auto& name : built_in)
    if (std::ranges::find(names, name) == names.end())
      throw error(errc::usage, fmt::format("the table of codecs lacks '{}'", name),
                  "add the program's own to the built-in ones: joined(codecs(), own)");
  std::array<const codec_entry*, 256> by_number{};
  for (const auto& entry : known) {
    check_entry(known.what(), entry.about, {{"make", entry.make != nullptr}, {"decode", entry.decode != nullptr}});
    const bool is_own = std::ranges::find(built_in, entry.about.name) == built_in.end();
    if (is_own && entry.wire_number < first_own_number)
      throw error(errc::usage,
                  fmt::format("codec '{}' has the wire number {}, which is not for codecs of programs",
                              entry.about.name, entry.wire_number),
                  fmt::format("allowed: {} to 255", first_own_number));
    if (const auto* other = std::exchange(by_number[entry.wire_number], &entry))
      throw error(errc::usage,
                  fmt::format("codecs '{}' and '{}' have one wire number, {}", other->about.name, entry.about.name,
                              entry.wire_number),
                  fmt::format("give each a number of its own, {} to 255", first_own_number));
  }
}

std::unique_ptr<codec> make_codec(std::string_view text, std::span<const tensor_shape> tensors,
                                  const registry<codec_entry>& known) {
  const auto [entry, values] = known.resolve(text);
  auto made = entry.make(values, tensors);
  if (!made)
    throw made_nothing(known.what(), entry.about.name);
  made->spelling_ = values.resolved().to_string();
  return made;
}

std::size_t selection::size() const noexcept {
  std::size_t sum = 0;
  for (const auto& r : ranges)
    sum += r.size;
  return sum;
}

selection codec::select(std::size_t, const random_stream&, std::uint64_t) const {
  GOSSAMER_ASSERT(false, "only a linear codec selects");
  return {};
}

namespace {

const codec_entry* find_codec_of(const packet& p, const registry<codec_entry>& known) {
  const auto found = std::ranges::find(known, p.codec, &codec_entry::wire_number);
  return found == known.end() ? nullptr : &*found;
}

} // namespace

vec decode(const packet& p, const registry<codec_entry>& known) {
  if (const auto* entry = find_codec_of(p, known))
    return entry->decode(p);
  throw detail::bad_packet(fmt::format("packet of unknown codec {}", p.codec));
}

std::shared_ptr<const detail::packet_contents> detail::contents_of(const packet& p,
                                                                   const registry<codec_entry>& known) {
  const auto* entry = find_codec_of(p, known);
  return entry && entry->contents ? entry->contents(p) : nullptr;
}

} // namespace gossamer::compress
