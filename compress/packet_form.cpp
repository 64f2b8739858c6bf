#include "gossamer/compress/detail/packet_form.hpp"

#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

namespace gossamer::compress::detail {

std::shared_ptr<const packet_contents> contents_with_places(const packet& p) {
  if (p.parameter != places_sent)
    return nullptr;
  expect_recipe(p, 0);
  const int bits = place_bits(p.elements);
  return make_contents(sent_places{read_count(p, 0, 32 + bits), bits});
}

std::shared_ptr<const packet_contents> contents_without_places(const packet& p, selection kept) {
  expect_bits(p, 32 * std::uint64_t{kept.size()});
  return make_contents(std::move(kept));
}

} // namespace gossamer::compress::detail
