#include "gossamer/actors/worlds/snapshot_frames.hpp"

#include "gossamer/base/archive.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

namespace {

void visit(archive& a, snapshot& s) { a(s.gradients)(s.sent.frames)(s.sent.payload_bits)(s.sent.wire_bits)(s.model); }

} // namespace

life evaluating_life(std::size_t participants) { return {static_cast<rank>(participants), 0}; }

frame to_frame(const snapshot& s, buffer_pool pool) {
  archive_writer bytes;
  auto copy = s;
  visit(bytes, copy);
  return {.source = s.source,
          .incarnation = s.incarnation,
          .label = {frame_kind::snapshot, s.evaluation},
          .body = compress::opaque(bytes.bytes(), std::move(pool))};
}

snapshot read_snapshot(const frame& f, std::size_t dimension, buffer_pool pool) {
  snapshot s;
  s.source = f.source;
  s.incarnation = f.incarnation;
  s.evaluation = f.label.step;
  archive_reader bytes{f.body.payload.bytes(), std::move(pool)};
  visit(bytes, s);
  bytes.finish();
  if (f.label.kind != frame_kind::snapshot || s.model.size() > dimension)
    throw error(errc::bad_packet,
                fmt::format("a snapshot has {} elements, and the model {}", s.model.size(), dimension));
  return s;
}

} // namespace gossamer::actors
