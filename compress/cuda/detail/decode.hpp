#pragma once

#include "gossamer/base/cuda/detail/queue_vec.hpp"
#include "gossamer/compress/cuda/detail/encode.hpp"

#include <tuple>

// The steps of decoding, over a queue as in encode.hpp.
namespace gossamer::compress::cuda {

/// y += a * decode(p), for as many elements as y has.
template <class Queue>
class decoder {
public:
  decoder(Queue& queue, const packet& p, float a, std::span<float> y) : q_(queue), p_(p), a_(a), y_(y) {}

  /// @param contents contents of the packet
  /// @error errc::bad_packet before y is changed
  void run(const detail::packet_contents& contents) {
    std::visit([&](const auto& c) { add(c); }, contents.what);
  }

  /// Decodes on the processor, for packets that no kernel reads.
  void add_decoded() {
    const vec x = decode(p_);
    if (x.empty())
      return;
    const auto values = uploaded<float>(x.storage().data(), x.storage().size());
    q_.launch(warps_for(y_.size(), 4), gossamer::cuda::add_scaled_elements{values.data(), a_, y_.data(), y_.size()});
    q_.keep(x.storage());
  }

private:
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
    if (kept.size() == 0)
      return;
    const auto values = uploaded<float>(p_.payload.data(), p_.payload.size());
    check(values.data(), nullptr, kept.size(), 0);
    kept_elements<Queue>{q_, kept}.add(values.data(), a_, y_.data());
    q_.keep(p_.payload);
  }

  void add(const detail::sent_places& kept) {
    if (kept.count == 0)
      return;
    const auto values = uploaded<float>(p_.payload.data(), sizeof(float) * kept.count);
    const auto places = uploaded<std::uint32_t>(
        p_.payload.data() + sizeof(float) * kept.count, p_.payload.size() - sizeof(float) * kept.count,
        sizeof(std::uint32_t) * std::max<std::uint64_t>(1, place_words(kept.bits, kept.count)));
    check(values.data(), places.data(), kept.count, kept.bits);
    q_.launch(warps_for(kept.count, 1), add_places{values.data(), places.data(), kept.count, kept.bits, a_, y_.data()});
    q_.keep(p_.payload);
  }

  /// @error errc::bad_packet as on the processor
  void check(const float* values, const std::uint32_t* places, std::uint64_t count, int bits) {
    const auto faults = q_.template zeros<sparse_faults>(1);
    q_.launch(warps_for(count, 1), check_sparse{values, places, count, p_.elements, bits, faults.data()});
    sparse_faults found;
    q_.download(std::span{&found, 1}, faults.data());
    q_.wait();
    if (found.places != 0 || found.values != 0)
      std::ignore = decode(p_);
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

/// y += a * decode(p).
/// @error errc::bad_packet before y is changed
template <class Queue>
void decode_add(Queue& queue, const packet& p, float a, std::span<float> y) {
  detail::expect_elements(p, y.size());
  decoder<Queue> into{queue, p, a, y};
  if (const auto contents = detail::contents_of(p))
    into.run(*contents);
  else
    into.add_decoded();
}

} // namespace gossamer::compress::cuda
