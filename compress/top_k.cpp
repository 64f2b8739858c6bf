#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/entries.hpp"
#include "gossamer/compress/detail/kept_count.hpp"
#include "gossamer/compress/detail/largest.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::compress::detail {
namespace {

constexpr std::uint8_t top_k_wire_number = 10;

class top_k final : public codec {
public:
  explicit top_k(kept_count kept) : kept_(kept) {}

  capabilities can() const override { return {.deterministic = true}; }

  packet encode(const vec& v, const random_stream&, std::uint64_t) const override {
    const auto all = v.view();
    const auto kept = largest(v.pool(), all, kept_.of(v.size()));
    if (std::ranges::any_of(kept, [all](auto i) { return !std::isfinite(all[i]); }))
      finite_max_magnitude(all); // names the first that is not finite
    return values_with_places(top_k_wire_number, v, kept, 1);
  }

  std::shared_ptr<const packet_form> form() const override {
    return make_form(top_k_wire_number, largest_choice{kept_});
  }

  std::uint64_t bits(std::size_t elements) const override {
    return kept_.of(elements) * static_cast<std::uint64_t>(32 + place_bits(elements));
  }

  double relative_error(std::size_t elements) const override { return 1 - kept_.share(elements); }

private:
  kept_count kept_;
};

} // namespace

codec_entry top_k_codec() {
  return {
      .about = {.name = "top-k",
                .summary = "sends the k elements of largest magnitude",
                .maths =
                    R"(C(v)_i = v_i for the k largest |v_i|, those of lower index first among equals; 0 for all others.
k = min(d, max(1, floor(fraction d + 1/2))) unless it is given.
|C(v) - v|^2 <= (1 - k/d) |v|^2.)",
                .reference = "Stich, Cordonnier, Jaggi: Sparsified SGD with memory, NeurIPS 2018",
                .cost = "k (32 + ceil(log2 d)) bits; two passes over v and a selection among the few elements that lie "
                        "within an eighth of an octave of the k-th",
                .parameters = kept_count::parameters()},
      .wire_number = top_k_wire_number,
      .make = [](const arguments& given, std::span<const tensor_shape>) -> std::unique_ptr<codec> {
        return std::make_unique<top_k>(kept_count{given});
      },
      .decode = decode_with_places,
      .contents = contents_with_places,
      .examples = {"top-k:k=5"},
  };
}

} // namespace gossamer::compress::detail
