#include "gossamer/actors/evaluation/evaluation_frames.hpp"

#include "gossamer/base/archive.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

void visit(archive& a, snapshot& s) { // of a master, which averages no models
  a(s.gradients)(s.sent.frames)(s.sent.payload_bits)(s.sent.wire_bits)(s.sent.bits_between_islands)(s.model);
}
void visit(archive& a, partial_mean& m) { a(m.spread)(m.mean); }

/// True if some models have this spread. That of models which have diverged is NaN, and so is an element of their mean.
bool is_possible(const partial_mean& m) {
  const auto is_finite = [](float x) { return std::isfinite(x); };
  return m.spread >= 0 || (std::isnan(m.spread) && !std::ranges::all_of(m.mean.view(), is_finite));
}

} // namespace

frame to_frame(const snapshot& s, buffer_pool pool) {
  archive_writer bytes;
  auto copy = s;
  visit(bytes, copy);
  return {.source = s.source,
          .incarnation = s.incarnation,
          .label = {frame_kind::snapshot, s.evaluation},
          .body = compress::opaque(bytes.bytes(), std::move(pool))};
}

snapshot read_snapshot(const frame& f, std::size_t size, buffer_pool pool) {
  snapshot s;
  s.source = f.source;
  s.incarnation = f.incarnation;
  s.evaluation = f.label.step;
  archive_reader bytes{f.body.payload.bytes(), std::move(pool)};
  visit(bytes, s);
  bytes.finish();
  if (f.label.kind != frame_kind::snapshot || s.model.size() != size)
    throw error(errc::bad_packet, fmt::format("a snapshot has {} elements instead of {}", s.model.size(), size));
  const auto& sent = s.sent;
  for (const auto count : {s.gradients, sent.frames, sent.payload_bits, sent.wire_bits, sent.bits_between_islands})
    if (count >= most_counted)
      throw error(errc::bad_packet, "a snapshot counts further than anybody can");
  return s;
}

frame to_frame(const std::map<rank_block, partial_mean>& parts, std::uint64_t job, life from, buffer_pool pool) {
  archive_writer bytes;
  for (auto [_, part] : parts)
    visit(bytes, part);
  return {.source = from.who,
          .incarnation = from.incarnation,
          .label = {frame_kind::partial_means, job},
          .body = compress::opaque(bytes.bytes(), std::move(pool))};
}

std::map<rank_block, partial_mean> read_partial_means(const frame& f, const std::map<rank_block, head_count>& expected,
                                                      std::size_t dimension, buffer_pool pool) {
  std::map<rank_block, partial_mean> parts;
  archive_reader bytes{f.body.payload.bytes(), std::move(pool)};
  for (const auto& [where, count] : expected) {
    auto& part = parts[where];
    part.models = count.models;
    visit(bytes, part);
    if (part.mean.size() != dimension || !is_possible(part))
      throw error(errc::bad_packet, fmt::format("a mean has {} elements and a spread of {}, and the model {} elements",
                                                part.mean.size(), part.spread, dimension));
  }
  bytes.finish();
  return parts;
}

} // namespace gossamer::actors
