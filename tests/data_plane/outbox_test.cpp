#include "gossamer/actors/data_plane/outbox.hpp"
#include "gossamer/actors/frames/under_way.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t many = 1000;

/// Returns the head of each chunk record of a stream.
std::vector<chunk_head> chunks_in(std::span<const std::byte> stream) {
  std::vector<chunk_head> result;
  while (!stream.empty()) {
    const auto size = take_number<std::uint32_t>(stream);
    EXPECT_EQ(take_number<std::uint8_t>(stream), static_cast<std::uint8_t>(record_kind::chunk));
    result.push_back(read_chunk_head(stream));
    stream = stream.subspan(size);
  }
  return result;
}

/// Returns all bytes that the outbox has to send now.
std::vector<std::byte> drained(outbox& out) {
  std::vector<std::byte> result;
  for (auto now = test::joined(out.gather()); !now.empty(); now = test::joined(out.gather())) {
    out.wrote(now.size());
    result.insert(result.end(), now.begin(), now.end());
  }
  return result;
}

class outbox_test : public testing::Test {
protected:
  void push(rank source, life to, std::uint64_t number, std::size_t bytes) {
    out.push(test::outgoing(pool, to, test::numbered_frame(pool, source, number, bytes)));
  }

  buffer_pool pool;
  outbox out{many};
};

TEST_F(outbox_test, sends_payloads_from_where_they_are) {
  const auto f = test::numbered_frame(pool, 1, 1, 1000);
  out.push(test::outgoing(pool, {2, 0}, f));
  out.resume(0);
  const auto pieces = out.gather();
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces.back().data(), f.body.payload.data());
}

TEST_F(outbox_test, says_nothing_but_control_before_the_peer_has_said_what_it_has) {
  push(1, {2, 0}, 1, 10);
  const std::array control{std::byte{1}, std::byte{2}};
  out.say(control);
  EXPECT_EQ(test::joined(out.gather()).size(), 2u);
}

TEST_F(outbox_test, lets_a_small_frame_overtake_a_large_one) {
  push(1, {2, 0}, 1, 16 * largest_chunk);
  push(3, {2, 0}, 1, 10);
  out.resume(0);
  const auto chunks = chunks_in(drained(out));
  ASSERT_EQ(chunks.size(), 18u);
  EXPECT_EQ(chunks[0].source, 1u);
  EXPECT_EQ(chunks[1].source, 3u);
}

TEST_F(outbox_test, keeps_the_order_within_a_lane) {
  push(1, {2, 0}, 1, 4 * largest_chunk);
  push(1, {2, 0}, 2, 10);
  out.resume(0);
  const auto chunks = chunks_in(drained(out));
  ASSERT_EQ(chunks.size(), 6u);
  EXPECT_LT(chunks[5].left, 100u);
}

TEST_F(outbox_test, has_no_more_half_frames_on_the_way_than_the_peer_takes) {
  out = outbox{2};
  for (rank source = 0; source < 5; ++source)
    push(source, {9, 0}, 1, 1 << 20);
  push(7, {9, 0}, 1, 10);
  out.resume(0);
  std::map<rank, std::uint64_t> left;
  for (const auto& c : chunks_in(drained(out))) {
    left[c.source] = c.left - std::min(c.left, largest_chunk);
    EXPECT_LE(std::ranges::count_if(left, [](const auto& l) { return l.second > 0; }), 2);
  }
  EXPECT_EQ(left.size(), 6u);
}

TEST_F(outbox_test, forgets_what_is_acknowledged_and_nothing_else) {
  push(1, {2, 0}, 1, 10);
  push(1, {2, 0}, 2, 10);
  out.resume(0);
  drained(out);
  EXPECT_TRUE(out.has_frames());
  out.acknowledged(1);
  EXPECT_TRUE(out.has_frames());
  out.acknowledged(2);
  EXPECT_FALSE(out.has_frames());
}

TEST_F(outbox_test, has_a_frame_under_way_until_its_last_chunk_is_acknowledged) {
  const auto count = std::make_shared<under_way>([] {});
  for (std::uint64_t number = 1; number <= 2; ++number) {
    auto f = *test::outgoing(pool, {2, 0}, test::numbered_frame(pool, 1, number, largest_chunk));
    f.on_the_way = under_way::share(count, f.size());
    out.push(std::make_shared<const outgoing_frame>(std::move(f)));
  }
  const auto both = count->bytes();
  out.resume(0);
  drained(out); // two chunks of each frame
  out.acknowledged(1);
  EXPECT_EQ(count->bytes(), both) << "half a frame may have to be sent again";
  out.lost();
  out.resume(1);
  EXPECT_EQ(count->bytes(), both);
  drained(out);
  out.acknowledged(2);
  EXPECT_EQ(count->bytes(), both / 2);
  out = outbox{many}; // happens when a peer is given up
  EXPECT_EQ(count->bytes(), 0u);
}

TEST_F(outbox_test, refuses_counts_that_cannot_be) {
  push(1, {2, 0}, 1, 10);
  push(1, {2, 0}, 2, 10);
  out.resume(0);
  EXPECT_THAT(test::refusal_of([&] { out.acknowledged(1); }), HasSubstr("1 chunks were acknowledged, of 0"));
  drained(out);
  out.acknowledged(1);
  out.lost();
  EXPECT_THAT(test::refusal_of([&] { out.resume(0); }), HasSubstr("0 chunks are said to have arrived"));
  EXPECT_THAT(test::refusal_of([&] { out.resume(3); }), HasSubstr("3 chunks are said to have arrived, of 2"));
  out.resume(1);
  EXPECT_EQ(chunks_in(drained(out)).size(), 1u);
}

TEST_F(outbox_test, goes_on_wherever_it_was_stopped) {
  push(1, {2, 0}, 1, 300);
  push(3, {2, 0}, 1, 200);
  out.resume(0);
  std::vector<std::byte> whole = test::joined(out.gather());
  std::vector<std::byte> in_steps;
  for (std::size_t step = 1; in_steps.size() < whole.size(); ++step) {
    const auto next = test::joined(out.gather());
    const auto now = std::min(step % 7 + 1, next.size());
    in_steps.insert(in_steps.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(now));
    out.wrote(now);
  }
  EXPECT_EQ(in_steps, whole);
  out.lost();
  out.resume(0);
  EXPECT_EQ(drained(out), whole);
}

} // namespace
} // namespace gossamer::actors
