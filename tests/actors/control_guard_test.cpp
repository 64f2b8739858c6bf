// Messages that may come out of a tunnel for CAF, and their longest length.
#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/node/rendezvous.hpp"

#include <caf/all.hpp>
#include <caf/io/basp/header.hpp>
#include <caf/io/basp/version.hpp>
#include <gmock/gmock.h>

#include <numeric>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

std::vector<std::byte> message(std::uint32_t length, std::uint8_t operation = 2) {
  auto result = test::control_header(length, operation);
  result.resize(result.size() + length, std::byte{0xff}); // the bytes of a body are never read as a header
  return result;
}

std::vector<std::byte> operator+(std::vector<std::byte> first, const std::vector<std::byte>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Returns the last objection of a guard, and the number of bytes read before it.
std::pair<std::string, std::size_t> judged(std::span<const std::byte> bytes, std::size_t piece) {
  control_guard guard{1000};
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto next = bytes.subspan(at, std::min(piece, bytes.size() - at));
    if (const auto why = guard.objection(next))
      return {*why, at + next.size()};
  }
  return {"", bytes.size()};
}

TEST(control_guard, knows_the_header_as_caf_writes_it) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  std::vector<char> written;
  caf::binary_serializer sink{system, written};
  caf::io::basp::header header{caf::io::basp::message_type::direct_message, 1, 0x01020304, 5, 6, 7};
  ASSERT_FALSE(sink(header));
  ASSERT_EQ(written.size(), control_guard::header_bytes);
  ASSERT_EQ(caf::io::basp::header_size, control_guard::header_bytes);
  control_guard guard{0x01020303};
  EXPECT_THAT(guard.objection(std::as_bytes(std::span{written})).value_or(""), HasSubstr(std::to_string(0x01020304)));
  EXPECT_EQ(caf::io::basp::version, 3U) << "compare the layout of headers again";
}

TEST(control_guard, passes_messages_however_they_are_cut) {
  const auto bytes = message(0, 6) + message(1) + message(1000) + message(999, 3) + message(0, 0);
  for (const std::size_t piece : {1u, 2u, 31u, 32u, 33u, 64u, 1000u, 5000u})
    EXPECT_EQ(judged(bytes, piece).first, "") << piece;
}

TEST(control_guard, refuses_the_first_header_that_says_too_much_with_its_last_byte) {
  const auto lawful = message(1000) + message(7);
  const auto bytes = lawful + test::control_header(1001) + message(5);
  for (const std::size_t piece : {1u, 7u, 32u, 5000u}) {
    const auto [why, behind] = judged(bytes, piece);
    EXPECT_EQ(why, "announces a control message of 1001 bytes, where this run has none above 1000");
    EXPECT_LT(behind, lawful.size() + control_guard::header_bytes + piece);
  }
  EXPECT_THAT(judged(test::control_header(0xffffffff), 32).first, HasSubstr("4294967295"));
}

TEST(control_guard, refuses_what_is_no_message_of_caf) {
  EXPECT_EQ(judged(message(0, 7), 32).first, "sends what is no control message");
  const std::string_view other = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(judged(std::as_bytes(std::span{other}), 3).first, "sends what is no control message");
}

/// Measures the widest plan and the widest books of a run with `participants` participants, each on a node of its own.
TEST(control_guard, lets_the_largest_messages_of_a_run_pass) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  const auto size_of = [&](auto& m) {
    std::vector<char> written;
    caf::binary_serializer sink{system, written};
    EXPECT_FALSE(sink(m));
    return written.size();
  };
  constexpr std::uint32_t participants = 20'000;
  const endpoint widest{std::string(253, 'h'), 65535};
  std::vector<consensus::node_number> homes(participants);
  std::iota(homes.begin(), homes.end(), 0);
  auto resolved = consensus::founding(homes, {0, 1, 2}, 100);
  for (auto& [_, process] : resolved.nodes)
    process = {7, widest, widest};
  run_books books{.counted = ledger{participants}};
  const auto size_of_plan = size_of(homes) + size_of(resolved) + size_of(books);
  EXPECT_LT(size_of_plan, participants << 11);
  consensus::propose both{.by = {}, .last = resolved, .next = resolved};
  EXPECT_LT(size_of(both), participants << 11);
  EXPECT_GT(size_of(both), participants << 10) << "so much is needed";
  EXPECT_GT(most_control_bytes(participants), (participants << 11) + (16U << 20));
}

} // namespace
} // namespace gossamer::actors
