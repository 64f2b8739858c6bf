// Included in HWY_NAMESPACE, once for each instruction set.

/// The mask of a register of elements from i on: bit i % 8 of byte i / 8 belongs to element i.
/// @param bytes eight of them from byte i / 8 on: Highway may read as many wherever a mask begins
/// @param i a multiple of the lanes
template <class D>
HWY_INLINE hn::Mask<D> mask_at(D d, const std::uint8_t* bytes, std::size_t i) {
  if (hn::Lanes(d) >= 8)
    return hn::LoadMaskBits(d, bytes + i / 8);
  const std::uint8_t part[8] = {static_cast<std::uint8_t>(bytes[i / 8] >> i % 8)};
  return hn::LoadMaskBits(d, part);
}
