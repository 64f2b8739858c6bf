#include "gossamer/actors/frames/frame.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/varint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

/// The numbers behind the kind, in the order of the wire. All but the sequence and the step are below 2^32.
std::array<std::uint64_t, 6> numbers_of(const frame& f) noexcept {
  return {f.source, f.incarnation, f.sequence, f.label.part, f.label.view, f.label.step};
}

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
  case frame_kind::invitation:
    return "invitation";
  case frame_kind::snapshot:
    return "snapshot";
  case frame_kind::partial_means:
    return "partial-means";
  case frame_kind::checkpoint:
    return "checkpoint";
  case frame_kind::residual:
    return "residual";
  }
  return kind >= first_own_kind ? "own" : "unknown";
}

bool is_known(frame_kind kind) noexcept { return to_string(kind) != "unknown"; }

std::size_t frame::wire_bytes() const noexcept {
  std::size_t bytes = 1;
  for (const auto n : numbers_of(*this))
    bytes += varint_bytes(n);
  return bytes + body.wire_bytes();
}

namespace {

std::byte* write_head(const frame& f, std::byte* const to, compress::guard by = compress::guard::checksum) {
  auto end = to;
  *end++ = static_cast<std::byte>(f.label.kind);
  for (const auto n : numbers_of(f))
    end = put_varint(end, n);
  return compress::write_head(f.body, end, XXH3_64bits(to, static_cast<std::size_t>(end - to)), by);
}

/// Reads everything that stands before the packet.
frame take_numbers(std::span<const std::byte>& bytes) {
  if (bytes.empty())
    throw bad_frame("frame is empty");
  const auto kind = static_cast<frame_kind>(bytes.front());
  if (!is_known(kind))
    throw bad_frame(fmt::format("frame is of the unknown kind {}", static_cast<unsigned>(kind)));
  bytes = bytes.subspan(1);
  const auto take = [&](std::uint64_t most) {
    const auto n = take_varint(bytes);
    if (!n || *n > most)
      throw bad_frame("frame has no proper numbers in its header");
    return *n;
  };
  const auto take_short = [&] { return static_cast<std::uint32_t>(take(std::numeric_limits<std::uint32_t>::max())); };
  const auto take_long = [&] { return take(std::numeric_limits<std::uint64_t>::max()); };
  frame f;
  f.source = take_short();
  f.incarnation = take_short();
  f.sequence = take_long();
  f.label = {.kind = kind, .part = take_short(), .view = take_short()};
  f.label.step = take_long();
  return f;
}

} // namespace

buffer write_head(buffer_pool& pool, const frame& f, compress::guard by) {
  auto result = pool.allocate(f.wire_bytes() - f.body.payload.size());
  write_head(f, result.data(), by);
  return result;
}

buffer write(buffer_pool& pool, const frame& f) {
  auto result = pool.allocate(f.wire_bytes());
  std::ranges::copy(f.body.payload.bytes(), write_head(f, result.data()));
  return result;
}

frame read_frame(buffer_pool& pool, std::span<const std::byte> bytes, std::uint64_t most_elements) {
  const auto all = bytes;
  auto f = take_numbers(bytes);
  f.body = compress::read(pool, bytes, most_elements, XXH3_64bits(all.data(), all.size() - bytes.size()));
  return f;
}

arriving_frame read_frame_head(buffer_pool& pool, std::span<const std::byte>& bytes, std::uint64_t size,
                               std::uint64_t most_elements) {
  const auto there = bytes;
  auto f = take_numbers(bytes);
  const auto before = there.size() - bytes.size();
  auto body = compress::read_head(pool, bytes, size - before, most_elements);
  f.body = std::move(body.content);
  return {std::move(f), XXH3_64bits(there.data(), before), body.checksum};
}

frame complete(arriving_frame f) {
  f.content.body = compress::complete({std::move(f.content.body), f.checksum}, f.prefix);
  return std::move(f.content);
}

} // namespace gossamer::actors
