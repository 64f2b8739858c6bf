#include "gossamer/actors/frames/label_text.hpp"

#include <gmock/gmock.h>

#include "support/frames.hpp"
#include "support/golden.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

constexpr frame_kind all_kinds[] = {frame_kind::model,           frame_kind::reduce_segment, frame_kind::gather_segment,
                                    frame_kind::average_request, frame_kind::average_reply,  frame_kind::state,
                                    frame_kind::acknowledgement, frame_kind::difference,     frame_kind::gather_packet,
                                    frame_kind::request,         frame_kind::reply,          frame_kind::invitation,
                                    frame_kind::snapshot,        frame_kind::partial_means,  first_own_kind,
                                    frame_kind::checkpoint,      frame_kind::residual};

packet vector_body(std::size_t size, const char* codec = "uniform:bits=3") {
  buffer_pool pool;
  vec v{pool, size};
  const auto values = v.overwrite();
  for (std::size_t i = 0; i < size; ++i)
    values[i] = 0.25f * (static_cast<float>(i) - 2.0f);
  return compress::make_codec(codec)->encode(v, {1, 0, purpose::quantise}, 0);
}

/// Returns a frame in which every field differs from every other.
frame frame_of(frame_kind kind, packet body) {
  return {.source = 0x01020304,
          .incarnation = 0x05060708,
          .sequence = 0x090a0b0c,
          .label = {kind, 0x1112131415161718, 0x191a1b1c, 0x1d1e1f20},
          .body = std::move(body)};
}

std::vector<std::byte> bytes_of(const frame& f) {
  buffer_pool pool;
  const auto written = write(pool, f);
  return {written.bytes().begin(), written.bytes().end()};
}

std::string refusal(std::span<const std::byte> bytes, std::uint64_t most_elements = 1000) {
  buffer_pool pool;
  try {
    read_frame(pool, bytes, most_elements);
    return "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_packet);
    return e.sentence();
  }
}

TEST(frame, of_every_kind_and_body_is_read_as_it_was_written) {
  buffer_pool pool;
  for (const auto kind : all_kinds)
    for (const auto& body : {packet{}, vector_body(0), vector_body(1), vector_body(33), vector_body(33, "identity")}) {
      const auto f = frame_of(kind, body);
      const auto bytes = bytes_of(f);
      EXPECT_EQ(bytes.size(), f.wire_bytes());
      const auto again = read_frame(pool, bytes);
      EXPECT_EQ(again.source, f.source);
      EXPECT_EQ(again.incarnation, f.incarnation);
      EXPECT_EQ(again.sequence, f.sequence);
      EXPECT_EQ(again.label, f.label);
      EXPECT_EQ(again.body.codec, body.codec);
      EXPECT_EQ(again.body.parameter, body.parameter);
      EXPECT_EQ(again.body.elements, body.elements);
      EXPECT_EQ(again.body.bits, body.bits);
      EXPECT_TRUE(std::ranges::equal(again.body.payload.bytes(), body.payload.bytes()));
    }
}

TEST(frame, tells_more_numbers_apart_than_fit_into_32_bits) {
  buffer_pool pool;
  for (const int bits : {32, 33, 63, 64}) {
    auto f = frame_of(frame_kind::model, vector_body(5));
    f.sequence = ~std::uint64_t{0} >> (64 - bits);
    EXPECT_EQ(read_frame(pool, bytes_of(f)).sequence, f.sequence);
  }
  const auto most = std::numeric_limits<std::uint32_t>::max();
  const frame longest{.source = most,
                      .incarnation = most,
                      .sequence = ~std::uint64_t{0},
                      .label = {frame_kind::model, ~std::uint64_t{0}, most, most},
                      .body = {}};
  EXPECT_EQ(longest.wire_bytes() - longest.body.wire_bytes(), longest_frame_head - compress::longest_head);
}

TEST(frame, is_its_head_and_its_payload) {
  buffer_pool pool;
  for (const auto& body : {packet{}, vector_body(1), vector_body(33), vector_body(33, "random-k:k=3")}) {
    const auto f = frame_of(frame_kind::model, body);
    const auto head = write_head(pool, f);
    std::vector<std::byte> joined{head.bytes().begin(), head.bytes().end()};
    joined.insert(joined.end(), body.payload.bytes().begin(), body.payload.bytes().end());
    EXPECT_EQ(joined, bytes_of(f));
  }
}

TEST(frame, without_a_checksum_is_taken_by_who_reads_from_a_carrier_alone) {
  buffer_pool pool;
  const auto f = frame_of(frame_kind::model, vector_body(33));
  const auto head = write_head(pool, f, compress::guard::carrier);
  std::vector<std::byte> bytes{head.bytes().begin(), head.bytes().end()};
  bytes.insert(bytes.end(), f.body.payload.bytes().begin(), f.body.payload.bytes().end());
  EXPECT_THAT(refusal(bytes), HasSubstr("checksum"));

  std::span<const std::byte> rest{bytes};
  auto arriving = read_frame_head(pool, rest, bytes.size());
  std::ranges::copy(rest, arriving.content.body.payload.data());
  const auto damaged = [&] {
    auto other = arriving;
    other.content.body.payload = pool.allocate(rest.size());
    std::ranges::fill(other.content.body.payload.bytes(), std::byte{0xff}); // including the bits behind the last
    return other;
  }();
  EXPECT_EQ(bytes_of(complete(std::move(arriving))), bytes_of(f));
  EXPECT_THROW(complete(damaged), error);
}

TEST(frame, has_the_bytes_that_it_always_had) {
  test::expect_golden("frame/model.hex", bytes_of(frame_of(frame_kind::model, vector_body(5))));
  test::expect_golden("frame/acknowledgement.hex", bytes_of(frame_of(frame_kind::acknowledgement, {})));
  test::expect_golden(
      "frame/state.hex",
      bytes_of(frame_of(frame_kind::state, compress::opaque(std::as_bytes(std::span{"state", 5}), {}))));
}

/// Returns the text of the fenced block that follows `heading` in docs/wire-format.md.
std::string block_after(const std::string& heading) {
  const auto text = test::read_text(std::filesystem::path{GOSSAMER_SOURCE_DIR} / "docs/wire-format.md");
  const auto begin = text.find("```\n", text.find(heading)) + 4;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(frame, is_the_one_of_the_documentation) {
  const frame f{.source = 2, .incarnation = 1, .sequence = 0, .label = {frame_kind::acknowledgement, 300}, .body = {}};
  EXPECT_EQ(block_after("### A worked frame"), test::to_hex(bytes_of(f)));
}

TEST(frame, numbers_its_kinds_as_the_documentation_does) {
  const auto text = test::read_text(std::filesystem::path{GOSSAMER_SOURCE_DIR} / "docs/wire-format.md");
  for (const auto kind : all_kinds)
    EXPECT_THAT(text, HasSubstr("| " + std::to_string(static_cast<int>(kind)) + " | " + std::string{to_string(kind)}));
}

TEST(frame, notices_every_flipped_bit) {
  for (const auto& body : {packet{}, vector_body(33)}) {
    const auto good = bytes_of(frame_of(frame_kind::model, body));
    ASSERT_EQ(refusal(good), "accepted");
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      auto bytes = good;
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      ASSERT_NE(refusal(bytes), "accepted") << "bit " << bit;
    }
  }
}

TEST(frame, is_refused_wherever_it_is_cut_and_when_it_goes_on) {
  for (const auto& body : {packet{}, vector_body(33)}) {
    auto bytes = bytes_of(frame_of(frame_kind::average_reply, body));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_NE(refusal(std::span{bytes}.first(size)), "accepted") << size;
      ASSERT_NE(refusal(test::resealed_frame({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)})),
                "accepted")
          << size;
    }
    for (int more = 0; more < 9; ++more) {
      bytes.push_back(std::byte{0});
      ASSERT_NE(refusal(bytes), "accepted");
      ASSERT_NE(refusal(test::resealed_frame(bytes)), "accepted");
    }
  }
}

TEST(frame, is_refused_when_its_kind_is_unknown) {
  const auto good = bytes_of(frame_of(frame_kind::model, {}));
  for (unsigned kind = 0; kind < 256; ++kind) {
    auto bytes = good;
    bytes[0] = static_cast<std::byte>(kind);
    const bool known = kind >= 128 || std::ranges::count(all_kinds, static_cast<frame_kind>(kind)) > 0;
    EXPECT_EQ(refusal(test::resealed_frame(bytes)),
              known ? "accepted" : "frame is of the unknown kind " + std::to_string(kind));
  }
}

TEST(frame, says_what_is_wrong_with_it) {
  const auto f = frame_of(frame_kind::model, vector_body(8));
  const auto good = bytes_of(f);
  const auto header = f.wire_bytes() - f.body.wire_bytes();
  EXPECT_EQ(refusal({}), "frame is empty");
  for (std::size_t size = 1; size < header; ++size)
    EXPECT_EQ(refusal(std::span{good}.first(size)), "frame has no proper numbers in its header");
  EXPECT_THAT(refusal(std::span{good}.first(header)), HasSubstr("packet of 0 bytes"));
  auto bytes = good;
  bytes[header - 1] ^= std::byte{1}; // damages the step
  EXPECT_EQ(refusal(bytes), "packet has a wrong checksum");
  frame most;
  most.source = 0xffffffff;
  bytes = bytes_of(most);
  bytes[5] = std::byte{0x1f}; // a number of 33 bits
  EXPECT_EQ(refusal(test::resealed_frame(bytes)), "frame has no proper numbers in its header");
}

TEST(frame, of_a_segment_of_bits_adds_less_than_2_percent) {
  for (const std::size_t elements : {79'510u / 8, 100'000u / 8}) {
    frame f{.source = 7, .sequence = 16'000, .label = {frame_kind::reduce_segment, 1'000, 8, 1}, .body = {}};
    f.body = compress::opaque(std::vector<std::byte>((elements + 7) / 8), {});
    f.body.elements = elements;
    const auto payload = static_cast<double>(f.body.payload.size());
    EXPECT_LE(static_cast<double>(f.wire_bytes()), 1.02 * payload) << elements << " bits";
  }
}

TEST(frame, holds_no_more_elements_than_its_reader_wants) {
  const auto bytes = bytes_of(frame_of(frame_kind::model, vector_body(33)));
  EXPECT_EQ(refusal(bytes, 33), "accepted");
  EXPECT_THAT(refusal(bytes, 32), HasSubstr("33 elements"));
}

TEST(damaged_frame, is_refused_or_consistent) {
  std::vector<std::vector<std::byte>> valid;
  for (const auto kind : all_kinds)
    for (const auto& body : {packet{}, vector_body(1), vector_body(33), vector_body(33, "identity")})
      valid.push_back(bytes_of(frame_of(kind, body)));
  random_sequence random{{12, 0, purpose::synthetic}, 0};
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = valid[random.below(static_cast<std::uint32_t>(valid.size()))];
    for (auto times = 1 + random.below(3); times-- > 0;)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<std::byte>(1u << random.below(8));
    if (random.below(4) == 0)
      bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size()) + 9));
    test::survives_as_frame(bytes);
    accepted += test::survives_as_frame(test::resealed_frame(bytes));
  }
  EXPECT_GT(accepted, 1000) << "the damage is so great that it never gets past the header";
}

TEST(a_label, is_told_by_number_and_part_where_a_program_chose_the_kind) {
  EXPECT_EQ(label_text({frame_kind::model, 5, 2}), "model 5");
  EXPECT_EQ(label_text({frame_kind{141}, 0, 2}), "own 141, step 0, part 2");
  EXPECT_EQ(label_text({frame_kind{255}, 7, any_part}), "own 255, step 7, any part");
}

} // namespace
} // namespace gossamer::actors
