#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"

#include <bit>

// A payload is the memory of the vector, and the wire is little-endian.
static_assert(std::endian::native == std::endian::little, "Gossamer runs on little-endian machines");

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t identity_wire_number = 1;

vec decode_identity(const packet& p) {
  if (p.elements > p.payload.size()) // so that 32 * elements cannot overflow
    throw bad_packet("packet of codec identity declares more elements than its payload has bytes");
  expect_recipe(p, 0);
  expect_bits(p, 32 * p.elements);
  return vec{p.payload};
}

class identity final : public codec {
public:
  capabilities can() const override { return {.exact = true, .unbiased = true, .deterministic = true, .linear = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    finite_max_magnitude(v.view());
    return {.codec = identity_wire_number,
            .parameter = 0,
            .elements = v.size(),
            .bits = bits(v.size()),
            .payload = v.storage()};
  }

  std::uint64_t bits(std::size_t elements) const override { return 32 * std::uint64_t{elements}; }
  double relative_error(std::size_t) const override { return 0; }
  selection select(std::size_t elements, const random_stream&, std::uint64_t) const override {
    return {.ranges = {{0, elements}}};
  }
};

} // namespace

codec_entry identity_codec() {
  return {
      .about = {.name = "identity",
                .summary = "sends the floats as they are",
                .maths = "C(v) = v",
                .reference = {},
                .cost = "32 d bits; one pass over v looks for NaN and infinity, nothing is copied",
                .parameters = {}},
      .wire_number = identity_wire_number,
      .make = [](const arguments&, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<identity>();
      },
      .decode = decode_identity,
      .examples = {"identity"},
  };
}

} // namespace gossamer::compress::detail
