#include "gossamer/actors/data_plane/hello.hpp"

#include "gossamer/actors/data_plane/record.hpp"
#include "gossamer/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

constexpr std::string_view magic = "gossamer";
constexpr std::size_t checksum_at = 12, guarded_from = 16;

/// Returns the low half of the hash of all other bytes, as in the checksum of packets.
std::uint32_t checksum_of(std::span<const std::byte, hello_bytes> bytes) noexcept {
  const auto seed = XXH3_64bits(bytes.data(), checksum_at);
  return static_cast<std::uint32_t>(
      XXH3_64bits_withSeed(bytes.data() + guarded_from, hello_bytes - guarded_from, seed));
}

std::optional<refusal> incompatible(std::string sentence) {
  return refusal{refusal_code::incompatible, std::move(sentence)};
}

std::optional<refusal> wrong_addressee(const hello& speaker, const hello& listener) {
  if (speaker.meant_node == listener.node && speaker.meant_life == listener.life)
    return std::nullopt;
  return refusal{refusal_code::not_here,
                 fmt::format("node {} (life {}) wants to speak to life {} of node {}, and this is "
                             "life {} of node {}",
                             speaker.node, speaker.life, speaker.meant_life, speaker.meant_node, listener.life,
                             listener.node)};
}

} // namespace

written_hello write(const hello& h) noexcept {
  written_hello result;
  auto end = std::ranges::copy(std::as_bytes(std::span{magic}), result.data()).out;
  end = put_number(put_number(end, h.version), std::uint32_t{0});
  end = put_number(put_number(put_number(end, h.run), h.fingerprint), h.received);
  end = put_number(put_number(end, h.node), h.life);
  end = put_number(put_number(end, h.meant_node), h.meant_life);
  put_number(put_number(end, h.memory.process), h.memory.file);
  put_number(result.data() + checksum_at, checksum_of(result));
  return result;
}

std::optional<hello> read_hello(std::span<const std::byte, hello_bytes> bytes) noexcept {
  if (!std::ranges::equal(bytes.first(magic.size()), std::as_bytes(std::span{magic})))
    return std::nullopt;
  hello h;
  std::span<const std::byte> rest = bytes.subspan(magic.size());
  h.version = take_number<std::uint32_t>(rest);
  if (take_number<std::uint32_t>(rest) != checksum_of(bytes))
    return std::nullopt;
  for (auto* number : {&h.run, &h.fingerprint, &h.received})
    *number = take_number<std::uint64_t>(rest);
  for (auto* number : {&h.node, &h.life, &h.meant_node, &h.meant_life, &h.memory.process, &h.memory.file})
    *number = take_number<std::uint32_t>(rest);
  return h;
}

std::vector<std::byte> write(const refusal& r) {
  const auto sentence = std::as_bytes(std::span{r.sentence}).first(std::min(r.sentence.size(), longest_refusal));
  std::vector<std::byte> result(record_head_bytes + 1 + sentence.size());
  const auto end = put_record_head(result.data(), 1 + sentence.size(), record_kind::refusal);
  std::ranges::copy(sentence, put_number(end, static_cast<std::uint8_t>(r.code)));
  return result;
}

std::optional<refusal> read_refusal(std::span<const std::byte> body) {
  if (body.empty() || body.size() > 1 + longest_refusal)
    return std::nullopt;
  const auto code = static_cast<refusal_code>(take_number<std::uint8_t>(body));
  if (code != refusal_code::incompatible && code != refusal_code::not_here && code != refusal_code::nonsense)
    return std::nullopt;
  return refusal{code, printable({reinterpret_cast<const char*>(body.data()), body.size()})};
}

std::optional<refusal> objection(const hello& mine, const hello& theirs) {
  if (theirs.node < mine.node)
    return objection(theirs, mine);
  if (mine.version != theirs.version)
    return incompatible(fmt::format("node {} speaks version {} of the protocol between nodes, node {} version {}",
                                    theirs.node, theirs.version, mine.node, mine.version));
  if (mine.run != theirs.run)
    return incompatible(fmt::format("node {} belongs to run {:016x}, node {} to run {:016x}", theirs.node, theirs.run,
                                    mine.node, mine.run));
  if (mine.fingerprint != theirs.fingerprint)
    return incompatible(fmt::format("node {} has prepared a run with fingerprint {:016x}, node {} one with {:016x}",
                                    theirs.node, theirs.fingerprint, mine.node, mine.fingerprint));
  if (auto wrong = wrong_addressee(theirs, mine))
    return wrong;
  return wrong_addressee(mine, theirs);
}

} // namespace gossamer::actors
