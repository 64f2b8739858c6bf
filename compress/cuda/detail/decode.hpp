#pragma once

#include "gossamer/base/cuda/detail/queue_vec.hpp"
#include "gossamer/compress/cuda/detail/encode.hpp"
#include "gossamer/compress/detail/places.hpp"
#include "gossamer/compress/detail/sign_kernels.hpp"

#include <cmath>
#include <cstring>

// The steps of decoding, over a queue as in encode.hpp.
namespace gossamer::compress::cuda {

/// y += a * decode(p).
template <class Queue>
class decoder {
public:
  decoder(Queue& queue, const packet& p, float a, std::span<float> y) : q_(queue), p_(p), a_(a), y_(y) {}

  /// @error errc::bad_packet before y is changed
  void run() {
    detail::expect_elements(p_, y_.size());
    const auto name = codec_name();
    if (name == "uniform")
      return add_uniform();
    if (name == "min-max")
      return add(detail::read_min_max(p_));
    if (name == "qsgd" && p_.parameter == 0)
      return add(detail::read_qsgd(p_));
    if (name == "terngrad")
      return add(detail::read_terngrad(p_));
    if (name == "sign")
      return add(detail::read_sign(p_));
    if (name == "scaled-sign")
      return add(detail::read_scaled_sign(p_));
    if (name == "ssdm")
      return add(detail::read_ssdm(p_));
    if (name == "grbs")
      return add(detail::read_grbs(p_));
    if (name == "random-k" && p_.parameter == detail::places_redrawn)
      return add(detail::read_random_k(p_));
    if ((name == "top-k" || name == "random-k" || name == "random-p") && p_.parameter == detail::places_sent)
      return add_sparse();
    add_decoded();
  }

private:
  std::string_view codec_name() const {
    for (const auto& entry : codecs())
      if (entry.wire_number == p_.codec)
        return entry.about.name;
    return {};
  }

  /// Levels may lie beyond the largest float; then the processor says whether any is sent.
  void add_uniform() {
    const auto levels = detail::read_uniform(p_);
    if (std::isfinite(std::ldexp(*levels.numbers, levels.form.bits - 1)))
      add(levels);
    else
      add_decoded();
  }

  void add(const detail::level_packet& levels) {
    if (levels.codes == nullptr || y_.empty())
      return;
    const auto count = levels.form.floats() * levels.form.rows(y_.size());
    const auto numbers = uploaded<float>(reinterpret_cast<const std::byte*>(levels.numbers), sizeof(float) * count);
    const auto codes =
        uploaded<unsigned char>(levels.codes, codes_behind(levels.codes), level_bytes(levels.form.bits, y_.size()));
    q_.launch(shares(y_.size(), level_tile),
              add_levels{levels.form, numbers.data(), codes.data(), a_, y_.data(), y_.size()});
    q_.keep(p_.payload);
  }

  void add(const detail::signed_packet& signs) {
    if (signs.bits == nullptr || y_.empty())
      return;
    const auto rows = signs.magnitudes == nullptr ? 0 : shares(y_.size(), signs.row);
    const auto magnitudes = uploaded<float>(reinterpret_cast<const std::byte*>(signs.magnitudes), sizeof(float) * rows);
    const auto words = uploaded<std::uint32_t>(signs.bits, codes_behind(signs.bits),
                                               sizeof(std::uint32_t) * sign_tile_words(y_.size()));
    q_.launch(warps_for(y_.size(), 4), add_sign_bits{words.data(), rows == 0 ? nullptr : magnitudes.data(), signs.row,
                                                     a_, y_.data(), y_.size()});
    q_.keep(p_.payload);
  }

  void add(const selection& kept) {
    detail::expect_bits(p_, 32 * std::uint64_t{kept.size()});
    if (kept.size() == 0)
      return;
    const auto values = uploaded<float>(p_.payload.data(), p_.payload.size());
    const auto ranges = copied_ranges(kept);
    const auto on_device = q_.template array<copied_range>(ranges.size());
    q_.upload(on_device.data(), std::span<const copied_range>{ranges});
    check(values.data(), nullptr, kept.size(), 0);
    q_.launch(warps_for(kept.size(), 4),
              add_ranges{values.data(), on_device.data(), ranges.size(), kept.size(), a_, y_.data()});
    q_.keep(p_.payload);
  }

  void add_sparse() {
    detail::expect_recipe(p_, 0);
    const int bits = detail::place_bits(p_.elements);
    const auto count = detail::read_count(p_, 0, 32 + bits);
    if (count == 0)
      return;
    const auto values = uploaded<float>(p_.payload.data(), sizeof(float) * count);
    const auto places =
        uploaded<std::uint32_t>(p_.payload.data() + sizeof(float) * count, p_.payload.size() - sizeof(float) * count,
                                sizeof(std::uint32_t) * std::max<std::uint64_t>(1, place_words(bits, count)));
    check(values.data(), places.data(), count, bits);
    q_.launch(warps_for(count, 1), add_places{values.data(), places.data(), count, bits, a_, y_.data()});
    q_.keep(p_.payload);
  }

  /// By the processor, where there is no other way.
  void add_decoded() {
    const vec x = decode(p_);
    if (x.empty())
      return;
    const auto values = uploaded<float>(x.storage().data(), x.storage().size());
    q_.launch(warps_for(y_.size(), 4), gossamer::cuda::add_scaled_elements{values.data(), a_, y_.data(), y_.size()});
    q_.keep(x.storage());
  }

  /// @error errc::bad_packet as the processor says it
  void check(const float* values, const std::uint32_t* places, std::uint64_t count, int bits) {
    const auto faults = q_.template zeros<sparse_faults>(1);
    q_.launch(warps_for(count, 1), check_sparse{values, places, count, p_.elements, bits, faults.data()});
    sparse_faults found;
    q_.download(std::span{&found, 1}, faults.data());
    q_.wait();
    if (found.places != 0 || found.values != 0)
      decode(p_);
  }

  std::size_t codes_behind(const std::byte* codes) const {
    return static_cast<std::size_t>(p_.payload.data() + p_.payload.size() - codes);
  }

  template <class T>
  auto uploaded(const std::byte* from, std::size_t bytes) {
    return uploaded<T>(from, bytes, bytes);
  }
  /// @param room at least as many bytes
  template <class T>
  auto uploaded(const std::byte* from, std::size_t bytes, std::size_t room) {
    auto result = q_.template array<T>(room / sizeof(T));
    q_.upload(reinterpret_cast<std::byte*>(result.data()), std::span{from, bytes});
    return result;
  }

  Queue& q_;
  const packet& p_;
  float a_;
  std::span<float> y_;
};

} // namespace gossamer::compress::cuda
