#include "gossamer/actors/runtime/frame.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

/// As it lies on the wire; little-endian, like every machine that Gossamer runs on.
struct header {
  std::uint32_t source;
  std::uint8_t kind;
  std::array<std::uint8_t, 3> reserved;
  std::uint64_t step;
  std::uint32_t part;
  std::uint32_t view;
  std::uint32_t incarnation;
  std::uint32_t sequence;
  std::uint64_t checksum; ///< of what stands before it; the packet guards itself
};
static_assert(sizeof(header) == frame::header_bytes && offsetof(header, checksum) == 32);

std::uint64_t checksum_of(const header& h) { return XXH3_64bits(&h, offsetof(header, checksum)); }

error bad_frame(std::string sentence) {
  return {errc::bad_packet, std::move(sentence), "the frame is discarded; if this happens often, check the link"};
}

} // namespace

std::string_view to_string(frame_kind kind) noexcept {
  switch (kind) {
  case frame_kind::model:
    return "model";
  case frame_kind::reduce_segment:
    return "reduce-segment";
  case frame_kind::gather_segment:
    return "gather-segment";
  case frame_kind::average_request:
    return "average-request";
  case frame_kind::average_reply:
    return "average-reply";
  case frame_kind::state:
    return "state";
  case frame_kind::acknowledgement:
    return "acknowledgement";
  case frame_kind::difference:
    return "difference";
  case frame_kind::gather_packet:
    return "gather-packet";
  case frame_kind::request:
    return "request";
  case frame_kind::reply:
    return "reply";
  }
  return "unknown";
}

buffer write(buffer_pool& pool, const frame& f) {
  header h{f.source,
           static_cast<std::uint8_t>(f.label.kind),
           {},
           f.label.step,
           f.label.part,
           f.label.view,
           f.incarnation,
           f.sequence,
           0};
  h.checksum = checksum_of(h);
  auto body = f.body;
  if (body.payload.size() == 0)
    body.payload = pool.allocate(0); // so that it knows a pool
  const auto packet_bytes = compress::write(body);
  auto result = pool.allocate(sizeof h + packet_bytes.size());
  std::memcpy(result.data(), &h, sizeof h);
  std::ranges::copy(packet_bytes.bytes(), result.data() + sizeof h);
  return result;
}

frame read_frame(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements) {
  header h;
  if (bytes.size() < sizeof h)
    throw bad_frame(fmt::format("frame of {} bytes is shorter than its header of {}", bytes.size(), sizeof h));
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.checksum != checksum_of(h))
    throw bad_frame("frame has a wrong checksum in its header");
  const auto kind = static_cast<frame_kind>(h.kind);
  if (to_string(kind) == "unknown")
    throw bad_frame(fmt::format("frame is of the unknown kind {}", h.kind));
  if (h.reserved != decltype(h.reserved){})
    throw bad_frame("frame has one of its reserved bytes 5 to 7 set");
  return {.source = h.source,
          .incarnation = h.incarnation,
          .sequence = h.sequence,
          .label = {kind, h.step, h.part, h.view},
          .body = compress::read(pool, bytes.subspan(sizeof h), most_elements)};
}

} // namespace gossamer::actors
