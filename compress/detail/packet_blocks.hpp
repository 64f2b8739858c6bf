#pragma once

#include "gossamer/compress/detail/packet_form.hpp"

#include <optional>

namespace gossamer::compress::detail {

/// The elements of a packet, block by block: a sum of many packets stays in the cache. For codecs whose elements can be
/// read from any place: uniform, min-max, qsgd with codes of fixed length, terngrad, and all signs.
class packet_blocks {
public:
  /// @param p outlives the result
  /// @returns `nullopt` if only `decode` reads the packet. @error errc::bad_packet
  static std::optional<packet_blocks> of(const packet& p, const registry<codec_entry>& known);

  /// Writes the elements from `first` on, the same bits as `decode` does.
  /// @param first a multiple of `level_block`
  void read(std::size_t first, std::span<float> to) const;

private:
  explicit packet_blocks(std::shared_ptr<const packet_contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const packet_contents> contents_;
};

} // namespace gossamer::compress::detail
