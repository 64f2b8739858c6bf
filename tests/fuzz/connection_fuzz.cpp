// Arbitrary bytes behind a hello break a rule of connections or do not, wherever they are cut.
#include "data_plane/support.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace gossamer;
using namespace gossamer::actors;

/// The frames and the refusal that a node makes of the bytes.
struct outcome {
  std::vector<std::byte> frames;
  std::string refusal;

  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome outcome_of(std::span<const std::byte> bytes, std::size_t piece) {
  constexpr std::uint64_t most_half_frames = 3, most_frame_bytes = 1 << 16;
  buffer_pool pool, written;
  outcome result;
  session talk{{.node = 1},
               {.most_elements = 1000, .most_frame_bytes = most_frame_bytes, .most_half_frames = most_half_frames},
               pool,
               {[](rank source) { return source < 8; },
                [&](life, const frame& f) {
                  const auto again = write(written, f);
                  result.frames.insert(result.frames.end(), again.bytes().begin(), again.bytes().end());
                }}};
  talk.answer({.meant_node = 1});
  while (!bytes.empty() && !talk.ended()) {
    const auto room = talk.room();
    const auto now = std::min({room.size(), bytes.size(), piece});
    std::ranges::copy(bytes.first(now), room.begin());
    talk.commit(now);
    bytes = bytes.subspan(now);
    GOSSAMER_ASSERT(pool.blocks_in_use() <= most_half_frames + 1, "memory is bounded");
  }
  if (talk.ended())
    result.refusal = talk.ended()->why.sentence;
  talk.lost();
  return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  if (size >= hello_bytes)
    if (const auto h = read_hello(bytes.first<hello_bytes>()))
      GOSSAMER_ASSERT(std::ranges::equal(write(*h), bytes.first(hello_bytes)), "a hello has one written form");
  GOSSAMER_ASSERT(outcome_of(bytes, 7) == outcome_of(bytes, SIZE_MAX), "how bytes are cut does not matter");
  return 0;
}
