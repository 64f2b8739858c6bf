#include "gossamer/actors/data_plane/intake.hpp"

#include <gmock/gmock.h>

#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

std::vector<std::byte> record(chunk_head c, std::span<const std::byte> bytes) {
  const auto head = write_chunk_head(c, bytes.size());
  std::vector<std::byte> result(head.size() + bytes.size());
  std::ranges::copy(bytes, std::ranges::copy(head, result.begin()).out);
  return result;
}

class intake_test : public testing::Test {
protected:
  std::string refusal(std::span<const std::byte> bytes) {
    return test::refusal_of([&] { test::feed(in, bytes); });
  }
  std::vector<std::byte> frame_bytes(rank source, std::size_t payload) {
    const auto written = write(frames, test::numbered_frame(frames, source, 1, payload));
    return {written.bytes().begin(), written.bytes().end()};
  }

  std::vector<std::byte> half_of_a_frame(rank source) {
    const auto bytes = frame_bytes(source, 5000);
    return record({source, {2, 0}, bytes.size()}, std::span{bytes}.first(3000));
  }

  buffer_pool frames, pool;
  std::vector<std::pair<life, frame>> arrived;
  intake in{{.most_elements = 1000, .most_frame_bytes = 1 << 20, .most_half_frames = 3},
            pool,
            {[](rank source) { return source < 10; },
             [this](life to, frame f) { arrived.emplace_back(to, std::move(f)); },
             {}}};
};

TEST(limits, let_a_state_have_an_estimate_of_each_neighbour) {
  constexpr std::uint64_t elements = 1'000'000, neighbours = 200, vectors = neighbours + 3;
  EXPECT_GE(limits_for(elements, neighbours).most_frame_bytes, vectors * sizeof(float) * elements);
  EXPECT_LT(limits_for(elements).most_frame_bytes, 70 * sizeof(float) * elements);
}

TEST_F(intake_test, reads_a_frame_cut_at_every_byte) {
  const auto bytes = frame_bytes(1, 100);
  const auto whole = record({1, {2, 3}, bytes.size()}, bytes);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    test::feed(in, std::span{whole}.first(cut));
    test::feed(in, std::span{whole}.subspan(cut));
    ASSERT_EQ(arrived.size(), cut + 1);
    EXPECT_EQ(arrived.back().first, (life{2, 3}));
    EXPECT_TRUE(test::is_intact(frames, arrived.back().second));
    EXPECT_EQ(in.received(), cut + 1);
  }
}

TEST_F(intake_test, reads_long_chunks_to_where_they_stay) {
  const auto bytes = frame_bytes(1, 200'000);
  const auto whole = record({1, {2, 0}, bytes.size()}, bytes);
  test::feed(in, std::span{whole}.first(4000));
  const auto room = in.room();
  EXPECT_EQ(room.size(), whole.size() - 4000);
  test::feed(in, std::span{whole}.subspan(4000));
  ASSERT_EQ(arrived.size(), 1u);
  EXPECT_TRUE(test::is_intact(frames, arrived[0].second));
  EXPECT_EQ(room.data() + room.size(), arrived[0].second.body.payload.data() + 200'000);
}

TEST_F(intake_test, refuses_records_of_impossible_length_or_kind) {
  constexpr auto longest = static_cast<std::uint32_t>(chunk_head_bytes + largest_chunk);
  for (const std::uint32_t size : {0u, 20u, longest + 1, 0xffffffffu}) {
    std::array<std::byte, record_head_bytes> head{};
    put_record_head(head.data(), size, record_kind::chunk);
    intake fresh{limits{}, pool, {}};
    EXPECT_THAT(test::refusal_of([&] { test::feed(fresh, head); }), HasSubstr("bytes long")) << size;
  }
  EXPECT_THAT(refusal(std::vector(5, std::byte{9})), HasSubstr("unknown kind 9"));
  EXPECT_EQ(pool.blocks_created(), 0u);
}

TEST_F(intake_test, refuses_control_of_impossible_length) {
  for (const auto kind : {record_kind::acknowledgement, record_kind::refusal}) {
    std::array<std::byte, record_head_bytes> head{};
    put_record_head(head.data(), 1000, kind);
    intake fresh{limits{}, pool, {}};
    EXPECT_THAT(test::refusal_of([&] { test::feed(fresh, head); }), HasSubstr("has 1000 bytes"));
  }
}

TEST_F(intake_test, refuses_a_frame_that_is_too_long_before_it_takes_memory) {
  const auto bytes = record({1, {2, 0}, (1 << 20) + 1}, std::vector<std::byte>(10));
  EXPECT_THAT(refusal(bytes), HasSubstr("at most 1048576 are allowed"));
  EXPECT_EQ(pool.blocks_created(), 0u);
}

TEST_F(intake_test, refuses_a_frame_with_too_many_elements) {
  auto f = test::numbered_frame(frames, 1, 1, 10);
  f.body.elements = 1001;
  const auto written = write(frames, f);
  EXPECT_THAT(refusal(record({1, {2, 0}, written.size()}, written.bytes())), HasSubstr("1001 elements"));
  EXPECT_EQ(pool.blocks_created(), 0u);
}

TEST_F(intake_test, refuses_a_source_that_lives_elsewhere) {
  const auto bytes = frame_bytes(10, 10);
  EXPECT_THAT(refusal(record({10, {2, 0}, bytes.size()}, bytes)), HasSubstr("rank 10, which is not there"));
}

TEST_F(intake_test, refuses_a_frame_of_another_source_than_its_chunks) {
  const auto bytes = frame_bytes(2, 10);
  EXPECT_THAT(refusal(record({1, {2, 0}, bytes.size()}, bytes)), HasSubstr("frame of rank 1"));
}

TEST_F(intake_test, refuses_too_many_half_frames) {
  for (rank source = 0; source < 3; ++source)
    test::feed(in, half_of_a_frame(source));
  EXPECT_EQ(pool.blocks_in_use(), 3u);
  EXPECT_THAT(refusal(half_of_a_frame(3)), HasSubstr("more than 3 frames"));
  EXPECT_EQ(pool.blocks_in_use(), 3u);
}

TEST_F(intake_test, refuses_a_frame_that_goes_on_otherwise_than_it_began) {
  test::feed(in, half_of_a_frame(1));
  EXPECT_THAT(refusal(record({1, {2, 0}, 1000}, std::vector<std::byte>(100))),
              HasSubstr("bytes, and goes on with 1000"));
}

TEST_F(intake_test, refuses_a_first_chunk_that_ends_within_the_head) {
  const auto bytes = frame_bytes(1, 100);
  EXPECT_THAT(refusal(record({1, {2, 0}, bytes.size()}, std::span{bytes}.first(10))), HasSubstr("packet"));
  EXPECT_EQ(pool.blocks_created(), 0u);
}

TEST_F(intake_test, refuses_a_chunk_longer_than_its_frame) {
  EXPECT_THAT(refusal(record({1, {2, 0}, 99}, std::vector<std::byte>(100))), HasSubstr("of a frame that misses 99"));
}

TEST_F(intake_test, owes_an_acknowledgement_and_must_after_64_chunks_or_a_mebibyte) {
  EXPECT_FALSE(in.owes_acknowledgement());
  const auto bytes = frame_bytes(1, 10);
  for (int i = 0; i < 63; ++i)
    test::feed(in, record({1, {2, 0}, bytes.size()}, bytes));
  EXPECT_TRUE(in.owes_acknowledgement() && !in.must_acknowledge());
  test::feed(in, record({1, {2, 0}, bytes.size()}, bytes));
  EXPECT_TRUE(in.must_acknowledge());
  in.acknowledge();
  EXPECT_FALSE(in.owes_acknowledgement());
  const auto large = frame_bytes(1, 250'000);
  for (int i = 0; i < 5; ++i)
    test::feed(in, record({1, {2, 0}, large.size()}, large));
  EXPECT_TRUE(in.must_acknowledge());
}

TEST_F(intake_test, survives_any_bytes) {
  random_sequence random{{3, 0, purpose::synthetic}, 0};
  const auto good = frame_bytes(1, 50);
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = record({1, {2, 0}, good.size()}, good);
    const auto more = record({1, {2, 1}, 2 * good.size()}, good);
    bytes.insert(bytes.end(), more.begin(), more.end());
    for (auto times = random.below(4); times-- > 0;)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<std::byte>(1u << random.below(8));
    buffer_pool bounded;
    intake fresh{{.most_elements = 100, .most_frame_bytes = 1000},
                 bounded,
                 {[](rank) { return true; }, [](life, frame) {}, [](std::uint64_t) {}}};
    test::refusal_of([&] { test::feed(fresh, bytes); });
    EXPECT_LE(bounded.blocks_in_use(), 2u);
  }
}

} // namespace
} // namespace gossamer::actors
