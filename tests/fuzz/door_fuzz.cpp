// Arbitrary bytes of a stranger at a door with a token, and of a peer behind it. A stranger without the token does not
// get in, no long message gets past the guard, a lane takes no more than is sent, and cuts between bytes do not matter.
#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/lane_session.hpp"
#include "gossamer/actors/data_plane/token_handshake.hpp"

#include <string>
#include <vector>

#include "fuzz/target.hpp"

namespace {

using namespace gossamer;
using namespace gossamer::actors;
using bytes = std::span<const std::byte>;

struct outcome {
  token_handshake::state state;
  std::vector<std::byte> said;
  std::size_t taken = 0;

  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome knock(bytes said, std::size_t piece, token_handshake::role role) {
  static const access_token token{"0123456789abcdef", "the fuzzer"};
  token_handshake door{role, token, {}};
  outcome result{};
  while (!door.room().empty() && result.taken < said.size()) {
    const auto room = door.room();
    const auto now = std::min({room.size(), said.size() - result.taken, piece});
    std::ranges::copy(said.subspan(result.taken, now), room.begin());
    door.commit(now);
    result.taken += now;
    const auto answer = door.unsent();
    result.said.insert(result.said.end(), answer.begin(), answer.end());
    door.sent(answer.size());
  }
  result.state = door.now();
  GOSSAMER_ASSERT(result.state != token_handshake::state::established, "nobody gets in without the token");
  return result;
}

/// Returns the byte at which the guard objects. Returns `nullopt` if it does not.
std::optional<std::size_t> objects_at(bytes said, std::size_t piece) {
  control_guard guard{1 << 16};
  for (std::size_t at = 0; at < said.size(); at += piece)
    if (guard.objection(said.subspan(at, std::min(piece, said.size() - at))))
      return at;
  return std::nullopt;
}

/// Decides the same as the guard in a simpler way.
bool is_lawful(bytes said) {
  while (said.size() >= control_guard::header_bytes) {
    std::uint64_t length = 0;
    for (std::size_t k = 4; k < 8; ++k)
      length = 256 * length + std::to_integer<std::uint64_t>(said[k]);
    if (std::to_integer<unsigned>(said[0]) > 6 || length > 1 << 16)
      return false;
    said = said.subspan(std::min<std::size_t>(control_guard::header_bytes + length, said.size()));
  }
  return true;
}

/// Returns what a lane makes of bytes behind the hello: the payload, and an objection.
std::pair<std::vector<std::byte>, std::string> carried(bytes said, std::size_t piece) {
  lane_session lane{{}};
  lane.begin();
  GOSSAMER_ASSERT(lane.hear({}), "an honest hello is heard");
  lane.push(std::vector<std::byte>(100)); // which the peer may acknowledge once it was sent
  for (auto next = lane.gather(); !next[0].empty() || !next[1].empty(); next = lane.gather())
    lane.wrote(next[0].size() + next[1].size());
  std::vector<std::byte> payload;
  std::array<std::byte, 7> room{};
  while (!said.empty() && !lane.objection() && !lane.peer_has_finished()) {
    auto come = said.first(std::min(piece, said.size()));
    const auto taken = lane.take(come, room);
    payload.insert(payload.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(taken));
    said = said.subspan(std::min(piece, said.size()) - come.size());
  }
  return {payload, lane.objection().value_or("")};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto said = std::as_bytes(std::span{data, size});
  for (const auto role : {token_handshake::role::opens, token_handshake::role::accepts}) {
    auto slow = knock(said, 1, role), fast = knock(said, SIZE_MAX, role);
    slow.taken = fast.taken = 0; // an end that objects at once has been given less
    GOSSAMER_ASSERT(slow == fast, "how bytes are cut does not matter");
  }
  GOSSAMER_ASSERT(objects_at(said, 1).has_value() == !is_lawful(said), "the guard objects to what is against the law");
  GOSSAMER_ASSERT(objects_at(said, 1).has_value() == objects_at(said, SIZE_MAX).has_value(),
                  "how bytes are cut does not matter");
  GOSSAMER_ASSERT(carried(said, 1) == carried(said, SIZE_MAX), "how bytes are cut does not matter");
  return 0;
}
