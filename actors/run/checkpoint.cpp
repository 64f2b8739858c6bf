#include "gossamer/actors/run/checkpoint.hpp"

#include "gossamer/base/archive.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace gossamer::actors {

namespace {

constexpr std::uint64_t part_magic = 0x3354524150534F47, manifest_magic = 0x354E414D53534F47; // "GOSPART3", "GOSSMAN5"
constexpr std::size_t seal_bytes = sizeof(std::uint64_t);

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
  const std::uint64_t seal = digest_of(bytes);
  append(bytes, std::as_bytes(std::span{&seal, 1}));
  return bytes;
}

/// The bytes between the magic number and the seal.
std::span<const std::byte> unsealed(std::span<const std::byte> bytes, std::uint64_t magic, const std::string& source) {
  const auto refuse = [&](const char* why) {
    throw error(errc::bad_data, fmt::format("{} {}", source, why), "an older checkpoint may be whole");
  };
  std::uint64_t first = 0, seal = 0;
  if (bytes.size() < sizeof magic + seal_bytes)
    refuse("is cut short");
  std::memcpy(&first, bytes.data(), sizeof first);
  std::memcpy(&seal, bytes.last(seal_bytes).data(), seal_bytes);
  if (first != magic)
    refuse("is no part of a checkpoint of this version");
  if (seal != digest_of(bytes.first(bytes.size() - seal_bytes)))
    refuse("is damaged: its checksum does not match");
  return bytes.subspan(sizeof magic, bytes.size() - sizeof magic - seal_bytes);
}

constexpr std::size_t head_bytes = 12 * sizeof(std::uint64_t); // numbers before the state of a part

void fields(archive& a, traffic& t) {
  a(t.frames)(t.payload_bits)(t.wire_bits)(t.bits_between_islands)(t.averaged.asked)(t.averaged.done)(
      t.averaged.dropped);
}

void head(archive& a, saved_worker& s) {
  a(s.checkpoint)(s.who)(s.incarnation)(s.random_life)(s.gradients);
  fields(a, s.sent);
}

void fields(archive& a, manifest& m) {
  a(m.checkpoint)(m.workers)(m.masters)(m.steps)(m.time_s)(m.samples)(m.former_gradients);
  fields(a, m.former_sent);
  std::vector<std::uint64_t> ranks;
  for (const auto& [who, part] : m.parts)
    ranks.push_back(who);
  a(ranks);
  for (const auto who : ranks) {
    auto& part = m.parts[static_cast<rank>(who)];
    a(part.digest)(part.gradients);
    fields(a, part.sent);
  }
}

std::vector<std::byte> begun(std::uint64_t magic) {
  std::vector<std::byte> bytes;
  append(bytes, std::as_bytes(std::span{&magic, 1}));
  return bytes;
}

/// Reads with `visit`, and names the file in errors.
template <class Visit>
void read_fields(std::span<const std::byte> bytes, const std::string& source, Visit visit) {
  archive_reader in{bytes, buffer_pool{}};
  try {
    visit(in);
    in.finish();
  } catch (const error& e) {
    throw error(errc::bad_data, fmt::format("{}: {}", source, e.sentence()));
  }
}

} // namespace

std::uint64_t digest_of(std::span<const std::byte> part) { return XXH3_64bits(part.data(), part.size()); }

std::vector<std::byte> write(const saved_worker& s) {
  auto bytes = begun(part_magic);
  archive_writer out;
  auto copy = saved_worker{.checkpoint = s.checkpoint,
                           .who = s.who,
                           .incarnation = s.incarnation,
                           .random_life = s.random_life,
                           .gradients = s.gradients,
                           .sent = s.sent,
                           .state = {}};
  head(out, copy);
  append(bytes, out.bytes());
  append(bytes, s.state);
  return sealed(std::move(bytes));
}

std::vector<std::byte> write(const manifest& m) {
  auto bytes = begun(manifest_magic);
  archive_writer out;
  auto copy = m;
  fields(out, copy);
  append(bytes, out.bytes());
  return sealed(std::move(bytes));
}

saved_worker read_saved_worker(std::span<const std::byte> bytes, const std::string& source) {
  const auto body = unsealed(bytes, part_magic, source);
  const auto begin = std::min(body.size(), head_bytes);
  saved_worker result;
  read_fields(body.first(begin), source, [&](archive& a) { head(a, result); });
  result.state.assign(body.begin() + static_cast<std::ptrdiff_t>(begin), body.end());
  return result;
}

manifest read_manifest(std::span<const std::byte> bytes, const std::string& source) {
  manifest result;
  read_fields(unsealed(bytes, manifest_magic, source), source, [&](archive& a) { fields(a, result); });
  if (!result.has_possible_steps())
    throw error(errc::bad_data, fmt::format("{} is of a run after {} steps", source, result.steps));
  return result;
}

} // namespace gossamer::actors
