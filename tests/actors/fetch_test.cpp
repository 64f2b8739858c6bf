// Choice of the source for each piece, and treatment of wrong pieces, without sockets, files or clocks.
#include "gossamer/actors/fetch/fetch.hpp"
#include "gossamer/testing/effort.hpp"

#include "fetch_world.hpp"

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

double seconds(fetch::time t) { return std::chrono::duration<double>{t}.count(); }

TEST(piece_tree, cuts_files_of_all_sizes_into_pieces_that_add_up) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, piece_bytes - 1, piece_bytes, piece_bytes + 1,
        piece_bytes * digests_in_piece, piece_bytes * digests_in_piece + 1, most_file_bytes}) {
    const piece_tree tree{bytes};
    EXPECT_EQ(tree.pieces(tree.levels() - 1), 1u);
    for (std::uint32_t level = 0; level < tree.levels(); ++level) {
      const auto last = tree.pieces(level) - 1;
      EXPECT_EQ(last * piece_bytes + tree.bytes_of(level, last), tree.bytes(level)) << bytes << ", level " << level;
      EXPECT_FALSE(tree.has(level, last + 1));
      EXPECT_TRUE(level == 0 || tree.bytes(level) == tree.pieces(level - 1) * digest::size);
    }
  }
  EXPECT_EQ(piece_tree{most_file_bytes}.levels(), 3u);
}

TEST(digest, is_what_sha256sum_prints) {
  EXPECT_EQ(digest_of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest::from(digest_of("abc").raw()), digest_of("abc"));
  EXPECT_EQ(digest::from("abc"), std::nullopt);
}

TEST(token_bucket, lets_the_rate_pass_and_no_more) {
  token_bucket bucket{1000, 300};
  auto now = fetch::time{5min};
  EXPECT_TRUE(bucket.take(300, now)) << "what was saved";
  double passed = 0;
  for (int k = 0; k < 100; ++k) {
    EXPECT_FALSE(bucket.take(100, now));
    now = bucket.ready_at(100, now);
    EXPECT_TRUE(bucket.take(100, now));
    passed += 100;
  }
  EXPECT_NEAR(passed / seconds(now - 5min), 1000, 1);
  EXPECT_FALSE(bucket.take(301, now + 1h)) << "more is never saved";
  EXPECT_TRUE(bucket.take(300, now + 1h));
}

TEST(fetch, brings_files_of_all_sizes) {
  fetch_world world{
      {"", "a", random_bytes(piece_bytes, 1), random_bytes(piece_bytes + 1, 2), random_bytes(40 * piece_bytes, 3)},
      {{}}};
  world.run();
  world.expect_all_there();
  EXPECT_EQ(world.stored, 1u + 1 + 1 + 2 + 40);
}

TEST(fetch, descends_all_levels_of_a_large_file) {
  std::string large(piece_bytes * digests_in_piece + 5, 'z');
  large[12345] = 'a';
  fetch_world world{{large}, {{.bytes_per_second = 1e9}}};
  world.run();
  world.expect_all_there();
  EXPECT_EQ(world.asked.front().second.what, (piece_id{0, 2, 0}));
}

TEST(fetch, of_nothing_is_done) {
  fetch_world world{{}, {}};
  EXPECT_TRUE(world.under_test().done());
}

TEST(fetch, takes_as_long_as_the_rate_says) {
  constexpr double rate = 8e5;
  const auto content = random_bytes(100 * piece_bytes, 1);
  fetch_world world{{content}, {{.bytes_per_second = 1e8}, {.bytes_per_second = 1e8}}, {.bytes_per_second = rate}};
  world.run();
  world.expect_all_there();
  EXPECT_THAT(seconds(world.now), AllOf(Ge(0.95 * 100 * piece_bytes / rate), Le(1.05 * 100 * piece_bytes / rate)));
  for (std::size_t k = 0; k < world.asked.size(); ++k) // never more than the rate allows, and a quarter of a second
    EXPECT_LE(static_cast<double>(k + 1) * 0.9 * piece_bytes,
              rate * (seconds(world.asked[k].first) + 0.25) + piece_bytes);
}

TEST(fetch, shares_the_work_between_sources) {
  for (const double rate : {std::numeric_limits<double>::infinity(), 8e5}) { // one source would do at the second rate
    fetch_world world{{random_bytes(200 * piece_bytes, 1)}, {{}, {}, {}}, {.bytes_per_second = rate}};
    world.run();
    world.expect_all_there();
    for (std::uint32_t k = 0; k < 3; ++k)
      EXPECT_GT(world.pieces_asked_of(k), 50) << k;
  }
}

TEST(fetch, leaves_who_sends_a_wrong_piece_when_it_comes) {
  fetch_world world{{random_bytes(100 * piece_bytes, 1)},
                    {{.answers_after = 1ms, .wrong = 1}, {.answers_after = 30ms}}};
  world.run();
  world.expect_all_there();
  ASSERT_EQ(world.left.size(), 1u);
  EXPECT_THAT(world.left[0], HasSubstr("wrong bytes, as piece 0 of file 0"));
  EXPECT_LE(std::ranges::count_if(world.asked, [](const auto& a) { return a.second.source == 0; }), 2);
}

TEST(fetch, leaves_who_sends_what_it_was_not_asked_for) {
  const auto content = random_bytes(2 * piece_bytes, 1);
  for (const auto& strange : {piece_id{0, 0, 0}, piece_id{1, 1, 0}, piece_id{0, 1, 1}, piece_id{0, 7, 0}}) {
    fetch f{{{content.size(), hashed(content).root(), 0}}, {}, 0s};
    f.came(3, 0s);
    EXPECT_EQ(f.take().size(), 1u) << "the piece of level 1";
    f.got(3, strange, content.substr(0, piece_bytes), 1, 1s);
    const auto orders = f.take();
    ASSERT_EQ(orders.size(), 1u);
    EXPECT_THAT(std::get<leave_order>(orders[0]).why, HasSubstr("not asked for"));
    EXPECT_TRUE(f.deserted());
  }
}

TEST(fetch, shows_each_receipt_once) {
  const auto content = random_bytes(3 * piece_bytes, 1);
  const auto known = hashed(content);
  fetch f{{{content.size(), known.root(), 0}}, {.window = 1}, 0s};
  f.came(0, 0s);
  std::vector<std::uint64_t> shown;
  for (std::uint64_t k = 0; k < 4; ++k) {
    const auto orders = f.take();
    const auto& o = std::get<ask_order>(orders.back());
    shown.push_back(o.receipt);
    const auto bytes =
        o.what.level == 1 ? std::string{known.piece(1, 0)} : content.substr(o.what.index * piece_bytes, piece_bytes);
    f.got(0, o.what, bytes, 100 + k, 0s);
  }
  EXPECT_THAT(shown, testing::ElementsAre(0, 100, 101, 102));
}

TEST(fetch, leaves_who_is_silent_for_the_patience_and_not_who_is_slow) {
  const auto content = random_bytes(20 * piece_bytes, 1);
  fetch_world world{{content}, {{.mute_from = 0s}, {.answers_after = 1s, .bytes_per_second = piece_bytes / 8.0}}};
  world.run();
  world.expect_all_there();
  ASSERT_EQ(world.left.size(), 1u) << "a piece in 8 s is an answer";
  EXPECT_THAT(world.left[0], HasSubstr("has not answered for 10 s"));
}

TEST(fetch, goes_on_with_whoever_comes_when_all_are_gone) {
  fetch_world world{{random_bytes(50 * piece_bytes, 1)}, {{.bytes_per_second = 1e6, .dies_at = 1s}, {}}};
  world.under_test().gone(1, world.now);
  world.run();
  EXPECT_TRUE(world.under_test().deserted());
  EXPECT_FALSE(world.under_test().done());
  const auto before = world.stored;
  EXPECT_GT(before, 5u);
  world.under_test().came(1, world.now);
  world.run();
  world.expect_all_there();
  EXPECT_EQ(world.stored, 50u) << "nothing twice";
}

TEST(fetch, asks_each_source_for_what_it_has) {
  const auto first = random_bytes(30 * piece_bytes, 1), second = random_bytes(30 * piece_bytes, 2);
  fetch_world world{{first, second}, {{.lacks = {1}}, {}, {.lacks = {0}}}};
  world.run();
  world.expect_all_there();
  for (std::uint32_t k = 0; k < 3; ++k)
    EXPECT_GT(world.pieces_asked_of(k), 10) << k;
}

TEST(fetch, goes_on_with_whoever_comes_when_nobody_has_a_file) {
  fetch_world world{{random_bytes(5 * piece_bytes, 1), random_bytes(5 * piece_bytes, 2)}, {{.lacks = {1}}, {}}};
  world.under_test().gone(1, world.now);
  world.run();
  EXPECT_TRUE(world.under_test().deserted());
  EXPECT_EQ(world.stored, 5u) << "the first file";
  world.under_test().came(1, world.now);
  world.run();
  world.expect_all_there();
  EXPECT_EQ(world.stored, 10u) << "nothing twice";
}

TEST(fetch, asks_only_for_what_is_not_on_the_disk) {
  const auto content = random_bytes(30 * piece_bytes + 17, 1), other = random_bytes(3 * piece_bytes, 2);
  auto partial = content.substr(0, 20 * piece_bytes + 100);
  partial[5 * piece_bytes] ^= 1; // damages piece 5
  fetch_world world{{other, content, other}, {{}}, {}, {"", partial, other}};
  world.run();
  world.expect_all_there();
  EXPECT_EQ(world.stored, 3u + 1 + 11) << "the damaged piece, the one that was cut, and those behind";
  EXPECT_EQ(world.under_test().progress().found, 19 * piece_bytes + other.size());
}

TEST(fetch, believes_nobody_about_pieces_on_the_disk_that_it_did_not_want_to_see) {
  const auto content = random_bytes(2 * piece_bytes, 1);
  fetch f{{{content.size(), hashed(content).root(), content.size()}}, {}, 0s};
  f.came(0, 0s);
  f.got(0, {0, 1, 0}, std::string{hashed(content).piece(1, 0)}, 1, 0s);
  f.take();
  for (const auto& strange : {piece_id{0, 0, 1}, piece_id{0, 0, 255}, piece_id{0, 1, 0}, piece_id{1, 0, 0}})
    f.found(strange, content.substr(0, piece_bytes), 0s);
  EXPECT_TRUE(f.take().empty());
  f.found({0, 0, 0}, content.substr(0, piece_bytes), 0s);
  EXPECT_EQ(std::get<look_order>(f.take().at(0)).what, (piece_id{0, 0, 1}));
}

TEST(fetch, gets_a_file_again_that_is_wrong_as_a_whole_and_then_gives_up) {
  fetch_world world{{random_bytes(3 * piece_bytes, 1)}, {{}}};
  world.whole_is_right = false;
  world.run();
  EXPECT_EQ(world.stored, 6u);
  EXPECT_THAT(world.under_test().failure(), HasSubstr("is not what it was said to be"));
}

TEST(fetch, ends_with_the_right_bytes_whatever_happens_while_one_good_source_is_there) {
  for (std::uint64_t seed = 0; seed < test::tries(300); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 draw{seed};
    const auto below = [&](std::uint64_t n) { return draw() % n; };
    std::vector<std::string> files, on_disk;
    for (std::uint64_t k = 0; k <= below(3); ++k) {
      files.push_back(random_bytes(below(20 * piece_bytes), draw()));
      on_disk.push_back(below(2) == 0 ? "" : files.back().substr(0, below(files.back().size() + 1)));
      if (!on_disk.back().empty() && below(2) == 0)
        on_disk.back()[below(on_disk.back().size())] ^= 4;
    }
    std::vector<source_plan> plans{{.answers_after = fetch::time{below(1'000'000'000)},
                                    .bytes_per_second = 1e5 + static_cast<double>(below(10'000'000))}};
    for (std::uint64_t k = 0; k < below(4); ++k) {
      auto& p = plans.emplace_back(source_plan{.answers_after = fetch::time{below(3'000'000'000)}});
      p.bytes_per_second = 1e4 + static_cast<double>(below(10'000'000));
      if (below(2) == 0)
        (below(2) == 0 ? p.dies_at : p.mute_from) = fetch::time{below(3'000'000'000)};
      p.wrong = below(2) == 0 ? 0.01 * static_cast<double>(below(100)) : 0;
      if (below(2) == 0)
        p.lacks = {static_cast<std::uint32_t>(below(3))};
    }
    fetch_settings settings{.window = 1 + below(20)};
    if (below(2) == 0)
      settings.bytes_per_second = 1e4 + static_cast<double>(below(1'000'000));
    fetch_world world{files, plans, settings, on_disk, seed};
    world.run();
    world.expect_all_there();
    EXPECT_EQ(world.left.count(0), 0u) << world.left[0];
  }
}

} // namespace
} // namespace gossamer::actors
