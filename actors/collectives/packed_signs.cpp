#include "gossamer/actors/collectives/packed_signs.hpp"

#include <algorithm>

namespace gossamer::actors {

own_signs::own_signs(const worker& w, const vec& v) : size_(v.size()), pool_(v.pool()), v_(v) {
  static const auto sign = compress::make_codec("sign");
  if (v.remote())
    *this = own_signs{w.encode(*sign, v, w.random(purpose::merge), 0)}; // this codec draws no numbers
}

own_signs::own_signs(packet signs) : size_(signs.elements), pool_(signs.payload.pool()), packed_(packed_signs{size_}) {
  signs.codec = compress::sign_wire_number; // any codec may have drawn them
  packed_->decode({0, size_}, signs);
}

void own_signs::pack(segment s, std::span<std::uint64_t> words) const {
  if (packed_)
    std::ranges::copy(packed_->of(s), words.begin());
  else
    compress::pack_signs(s.of(v_), words);
}

} // namespace gossamer::actors
