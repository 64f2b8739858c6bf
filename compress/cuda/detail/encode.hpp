#pragma once

#include "gossamer/compress/cuda/detail/largest.hpp"
#include "gossamer/compress/cuda/detail/level_codes.hpp"
#include "gossamer/compress/cuda/detail/place_codes.hpp"
#include "gossamer/compress/cuda/detail/scales.hpp"
#include "gossamer/compress/cuda/detail/selected.hpp"
#include "gossamer/compress/cuda/detail/sign_codes.hpp"
#include "gossamer/compress/detail/checks.hpp"
#include "gossamer/compress/detail/levels.hpp"
#include "gossamer/compress/detail/packet_form.hpp"
#include "gossamer/compress/detail/sparse_payload.hpp"

#include <cstring>

// The steps of encoding, over a queue of kernels and copies: that of a GPU (base/cuda/detail/launch.cuh), or in tests a
// queue that runs everything on the processor.
namespace gossamer::compress::cuda {

using gossamer::cuda::magnitudes;
using gossamer::cuda::shares;
using gossamer::cuda::squares;
using gossamer::cuda::sum_rows;
using gossamer::cuda::warps_for;

template <class Queue>
class encoder {
public:
  /// @param v where the queue's kernels find it; not empty
  encoder(Queue& queue, const codec& on_host, const detail::packet_form& form, std::span<const float> v,
          const random_stream& random, std::uint64_t step)
      : q_(queue), on_host_(on_host), form_(form), v_(v), random_(random), step_(step),
        found_(q_.template zeros<findings>(1)) {}

  packet run() {
    return std::visit([&](const auto& how) { return encode(how); }, form_.how);
  }

private:
  template <class T>
  using array = typename Queue::template array_of<T>;

  packet encode(const detail::level_packing& c) {
    const auto row = c.row == 0 ? v_.size() : c.row;
    const detail::level_form levels{c.numbers, c.bits, row, c.rule.levels};
    const auto count = levels.floats() * levels.rows(v_.size());
    const auto numbers = scales(c.rule, row, count);
    const auto codes = q_.template array<unsigned char>(level_bytes(c.bits, v_.size()));
    const auto key = (c.how == detail::rounding::halves ? detail::half_stream(random_) : random_).key();
    q_.launch(shares(v_.size(), level_tile),
              pack_levels{levels, numbers.data(), v_.data(), v_.size(), c.how, key, step_, codes.data()});
    auto p = outline(c.parameter, c.recipe, 32 * count + static_cast<unsigned>(c.bits) * v_.size());
    download(p, 0, numbers.data(), sizeof(float) * count);
    download(p, sizeof(float) * count, codes.data(), p.payload.size() - sizeof(float) * count);
    if (finish() == 0 && c.zero_in_scale_alone)
      shorten(p, 32);
    return p;
  }

  packet encode(const detail::sign_packing& c) {
    using kind = detail::sign_packing::kind;
    const auto row = c.row == 0 ? v_.size() : c.row;
    const auto rows = shares(v_.size(), row);
    const auto sent = c.sends_magnitudes ? rows : 0;
    const bool scaled = c.what != kind::plain;
    const auto magnitudes =
        scaled ? scales({.what = c.what == kind::scaled ? scale_rule::kind::mean : scale_rule::kind::plain_norm}, row,
                        rows)
               : q_.template array<float>(0);
    const auto words = q_.template array<std::uint32_t>(sign_tile_words(v_.size()));
    const auto warps = shares(v_.size(), sign_tile);
    if (c.what == kind::random)
      q_.launch(warps, pack_bits<random_signs>{{v_.data(), magnitudes.data(), row, random_.key(), step_},
                                               v_.size(),
                                               words.data(),
                                               false,
                                               found_.data()});
    else
      q_.launch(warps, pack_bits<signs_of>{{v_.data()}, v_.size(), words.data(), false, found_.data()});
    auto p = outline(c.what == kind::random && c.sends_magnitudes ? 1 : 0, {}, 32 * sent + v_.size());
    if (c.what == kind::random && c.sends_magnitudes && c.row > 0)
      p.recipe = {c.row};
    download(p, 0, magnitudes.data(), sizeof(float) * sent);
    download(p, sizeof(float) * sent, words.data(), p.payload.size() - sizeof(float) * sent);
    if (finish() == 0 && scaled)
      shorten(p, 0);
    return p;
  }

  packet encode(const detail::shared_choice& c) {
    const auto kept = on_host_.select(v_.size(), random_, step_);
    const auto size = kept.size();
    if (c.looks_at_all) // only to find elements that are not finite
      scales({.what = scale_rule::kind::range, .bits = 1}, v_.size(), 2);
    const auto values = q_.template array<float>(size);
    if (size > 0)
      kept_elements<Queue>{q_, kept}.gather(v_.data(), detail::largest_float, values.data(), found_.data());
    auto p = outline(kept.parameter, kept.recipe, 32 * size);
    download(p, 0, values.data(), p.payload.size());
    finish();
    return p;
  }

  packet encode(const detail::largest_choice& c) {
    const auto k = c.kept.of(v_.size());
    const int bits = detail::place_bits(v_.size());
    const auto values = q_.template array<float>(k);
    const auto places = q_.template array<std::uint32_t>(k);
    const auto packed = q_.template array<std::uint32_t>(place_words(bits, k));
    select_largest(k, values.data(), places.data());
    if (bits > 0)
      q_.launch(warps_for(place_words(bits, k), 1), pack_places{places.data(), k, bits, packed.data()});
    auto p = outline(detail::places_sent, {}, (32 + static_cast<unsigned>(bits)) * k);
    download(p, 0, values.data(), sizeof(float) * k);
    download(p, sizeof(float) * k, packed.data(), p.payload.size() - sizeof(float) * k);
    finish();
    return p;
  }

  void select_largest(std::uint64_t k, float* values, std::uint32_t* places) {
    const auto size = v_.size();
    const auto words = sign_tile_words(size), tiles = shares(words, mark_tile);
    const auto first = q_.template zeros<std::uint32_t>(first_digits);
    const auto second = q_.template zeros<std::uint32_t>(later_digits);
    const auto last = q_.template zeros<std::uint32_t>(later_digits);
    const auto marks = q_.template array<std::uint32_t>(words);
    const auto of_tile = q_.template array<above_and_equal>(tiles);
    const auto state = q_.template array<largest_state>(1);
    const largest_state begin{0, static_cast<std::uint32_t>(k)};
    q_.upload(state.data(), std::span{&begin, 1});

    q_.launch(warps_for(size, 4), count_first_digits{v_.data(), size, first.data()});
    q_.launch_block(pick_digit{first.data(), first_digits, state.data(), found_.data()});
    q_.launch(
        shares(size, sign_tile),
        pack_bits<candidates>{{v_.data(), state.data(), second.data()}, size, marks.data(), false, found_.data()});
    q_.launch_block(pick_digit{second.data(), later_digits, state.data(), found_.data()});
    q_.launch(warps_for(words, 1), count_last_digits{v_.data(), marks.data(), words, state.data(), last.data()});
    q_.launch_block(pick_digit{last.data(), later_digits, state.data(), found_.data()});
    q_.launch(tiles, count_kept{v_.data(), marks.data(), words, state.data(), of_tile.data()});
    q_.launch_block(add_up_tiles{of_tile.data(), tiles});
    q_.launch(tiles, write_kept{v_.data(), marks.data(), words, state.data(), of_tile.data(), values, places});
  }

  /// Returns the `count` numbers that a payload begins with.
  array<float> scales(const scale_rule& rule, std::uint64_t row, std::uint64_t count) {
    const auto rows = shares(v_.size(), row);
    auto numbers = q_.template array<float>(count);
    const auto ends = q_.template zeros<row_ends>(rule.needs_ends() ? rows : 0);
    if (rule.needs_ends())
      q_.launch(find_ranges::pieces_of(v_.size(), row), find_ranges{v_.data(), v_.size(), row, ends.data()});
    const auto sums = !rule.needs_sum()                     ? q_.template array<double>(0)
                      : rule.what == scale_rule::kind::mean ? sum_rows<magnitudes>(q_, v_.data(), v_.size(), row)
                                                            : sum_rows<squares>(q_, v_.data(), v_.size(), row);
    q_.launch(warps_for(rows, 1),
              write_scales{rule, v_.size(), rows, ends.data(), sums.data(), numbers.data(), found_.data()});
    return numbers;
  }

  packet outline(std::uint8_t parameter, std::vector<std::uint64_t> recipe, std::uint64_t bits) {
    return {form_.wire_number, parameter, v_.size(), bits, q_.host_pool().allocate(whole_bytes(bits)),
            std::move(recipe)};
  }

  void download(packet& p, std::size_t at, const void* from, std::size_t bytes) {
    q_.download(p.payload.bytes().subspan(at, bytes), static_cast<const std::byte*>(from));
  }

  static void shorten(packet& p, std::uint64_t bits) {
    p.bits = bits;
    p.payload.truncate(whole_bytes(bits));
  }

  /// Waits for all queued work. @returns whether some number of the payload is not 0
  /// @error errc::diverged when v is not finite, as on the processor
  std::uint32_t finish() {
    auto memory = q_.host_pool().allocate(sizeof(findings));
    q_.download(memory.bytes(), reinterpret_cast<const std::byte*>(found_.data()));
    q_.wait();
    findings found;
    std::memcpy(&found, memory.data(), sizeof found);
    if (found.not_finite != 0) {
      vec all{q_.host_pool().allocate(v_.size_bytes())};
      q_.download(all.overwrite(), v_.data());
      q_.wait();
      detail::finite_max_magnitude(all.view());
    }
    return found.not_zero;
  }

  Queue& q_;
  const codec& on_host_;
  const detail::packet_form& form_;
  std::span<const float> v_;
  const random_stream& random_;
  std::uint64_t step_;
  array<findings> found_;
};

/// Returns the packet of a vector that the queue's kernels can read.
/// @param form form of the codec's packets
template <class Queue>
packet encode(Queue& queue, const codec& c, const detail::packet_form& form, std::span<const float> v,
              const random_stream& random, std::uint64_t step) {
  if (v.empty())
    return c.encode(vec{queue.host_pool(), 0}, random, step);
  GOSSAMER_ASSERT(v.size() < packet_most_elements, "places and counts on a GPU have 32 bits");
  return encoder<Queue>{queue, c, form, v, random, step}.run();
}

} // namespace gossamer::compress::cuda
