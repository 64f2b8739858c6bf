#include "gossamer/actors/faults/board.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

using enum fault_kind;

constexpr std::uint64_t seed = 11;
constexpr std::size_t bytes = 1000;

/// A board on which all faults have begun.
struct stormy : fault_board {
  explicit stormy(std::vector<fault> faults, std::size_t workers = 4, std::size_t workers_per_node = 2)
      : fault_board({std::move(faults)}, workers, workers_per_node, seed) {
    for (std::size_t i = 0; i < plan().faults.size(); ++i)
      begin(i);
  }
};

std::vector<verdict> judge_all(fault_board& board, std::uint64_t frames, rank from = 0, rank to = 1) {
  std::vector<verdict> verdicts;
  for (std::uint64_t number = 0; number < frames; ++number)
    verdicts.push_back(board.judge(from, to, number, bytes, static_cast<double>(number)));
  return verdicts;
}

template <class Hit>
void expect_share(const std::vector<verdict>& verdicts, double rate, Hit hit) {
  const auto count = static_cast<double>(std::ranges::count_if(verdicts, hit));
  const auto frames = static_cast<double>(verdicts.size());
  EXPECT_NEAR(count, rate * frames, 4.5 * std::sqrt(frames * rate * (1 - rate))) << "of " << frames;
}

TEST(fault_board, leaves_frames_alone_while_nothing_is_on) {
  fault_board board{{{{.kind = drop}, {.kind = slow, .workers = {0}, .factor = 3}}}, 2, 1, seed};
  EXPECT_EQ(board.judge(0, 1, 0, bytes, 0), verdict{});
  EXPECT_FALSE(board.is_on(0));
  board.begin(0);
  board.begin(0);
  EXPECT_TRUE(board.is_on(0));
  EXPECT_TRUE(board.judge(0, 1, 1, bytes, 1).lost);
  board.end(0);
  EXPECT_FALSE(board.is_on(0));
  EXPECT_EQ(board.judge(0, 1, 2, bytes, 2), verdict{});
  board.end(0);
  board.begin(1);
  EXPECT_EQ(board.judge(0, 1, 3, bytes, 3), verdict{});
}

TEST(fault_board, hands_out_faults_that_stay_as_they_are_when_others_take_their_place) {
  const fault lost{.kind = drop}, late{.kind = delay, .seconds = 1};
  fault_board board{{{lost}}, 2, 1, seed};
  const auto& first = board.at(0); // a reference, in case it is one into the board
  board.add(0, late);
  EXPECT_EQ(first, lost);
  EXPECT_EQ(board.at(0), late);
}

TEST(fault_board, keeps_the_faults_that_are_awaited_until_they_begin) {
  const fault lost{.kind = drop}, slower{.kind = slow, .workers = {0}, .factor = 3};
  fault_board board{{{lost, slower}}, 2, 1, seed};
  EXPECT_TRUE(board.awaited().empty()) << "nobody switches faults here";
  board.await(0);
  board.await(1);
  EXPECT_EQ(board.awaited(), (std::vector{lost, slower}));
  board.begin(0);
  board.end(0);
  EXPECT_EQ(board.awaited(), std::vector{slower});
}

TEST(fault_board, refuses_a_plan_that_does_not_fit) {
  EXPECT_THAT(usage_error([] {
                fault_board{{{{.kind = kill, .workers = {2}}}}, 2, 1, seed};
              }),
              HasSubstr("workers of kill names 2"));
}

TEST(fault_board, hits_the_share_of_frames_that_the_rate_says) {
  constexpr std::uint64_t frames = 20'000;
  for (const double rate : {0.001, 0.05, 0.5, 0.9, 1.0}) {
    SCOPED_TRACE(rate);
    stormy lossy{{{.kind = drop, .rate = rate}}};
    expect_share(judge_all(lossy, frames), rate, [](const verdict& v) { return v.lost && v.copies == 0; });
    stormy doubling{{{.kind = duplicate, .rate = rate}}};
    expect_share(judge_all(doubling, frames), rate, [](const verdict& v) { return v.copies == 2; });
    stormy damaging{{{.kind = corrupt, .rate = rate}}};
    expect_share(judge_all(damaging, frames), rate, [](const verdict& v) { return v.corrupted; });
    stormy late{{{.kind = delay, .rate = rate, .seconds = 0.25}}};
    expect_share(judge_all(late, frames), rate, [](const verdict& v) { return v.delay_s == 0.25; });
    stormy mixing{{{.kind = reorder, .rate = rate, .seconds = 0.25}}};
    expect_share(judge_all(mixing, frames), rate, [](const verdict& v) { return v.delay_s > 0 && v.delay_s <= 0.25; });
  }
}

TEST(fault_board, hits_independently_by_kind_and_link) {
  stormy board{{{.kind = drop, .rate = 0.5}, {.kind = corrupt, .rate = 0.5}}};
  constexpr std::uint64_t frames = 10'000;
  const auto a = judge_all(board, frames, 0, 1), b = judge_all(board, frames, 1, 0), c = judge_all(board, frames, 0, 2);
  double same_ab = 0, same_ac = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    same_ab += a[i].lost == b[i].lost;
    same_ac += a[i].lost == c[i].lost;
  }
  const double tolerance = 4.5 * std::sqrt(frames * 0.25);
  EXPECT_NEAR(same_ab, frames / 2, tolerance);
  EXPECT_NEAR(same_ac, frames / 2, tolerance);
  // Half of the frames that are not lost are corrupted.
  expect_share(a, 0.25, [](const verdict& v) { return v.corrupted; });
}

TEST(fault_board, hits_a_subset_when_milder_and_the_same_whatever_else_is_on) {
  stormy mild{{{.kind = drop, .rate = 0.1}}}, wild{{{.kind = corrupt}, {.kind = drop, .rate = 0.3}}};
  const auto few = judge_all(mild, 1000), many = judge_all(wild, 1000);
  stormy only{{{.kind = drop, .rate = 0.3}}};
  const auto same = judge_all(only, 1000);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_LE(few[i].lost, many[i].lost);
    EXPECT_EQ(same[i].lost, many[i].lost);
  }
}

// Threads must not affect each other's verdicts: links are judged in parallel and one after the other.
TEST(fault_board, decides_the_same_in_any_interleaving) {
  const std::vector<fault> faults{{.kind = drop, .rate = 0.2},
                                  {.kind = reorder, .rate = 0.2, .seconds = 3},
                                  {.kind = delay, .rate = 0.3, .seconds = 2},
                                  {.kind = throttle, .bits_per_second = 8000}};
  constexpr std::uint64_t frames = 2000;
  stormy parallel{faults}, in_turn{faults};
  std::array<std::vector<verdict>, 4> found;
  {
    std::vector<std::jthread> threads;
    for (rank from = 0; from < 4; ++from)
      threads.emplace_back([&, from] { found[from] = judge_all(parallel, frames, from, (from + 1) % 4); });
  }
  for (rank from = 4; from-- > 0;)
    EXPECT_EQ(judge_all(in_turn, frames, from, (from + 1) % 4), found[from]) << from;
}

TEST(fault_board, strikes_only_the_named_links) {
  stormy board{
      {{.kind = drop, .from = {0, 1}, .to = {2}}, {.kind = corrupt, .to = {3}}, {.kind = duplicate, .from = {3}}}};
  for (rank from = 0; from < 4; ++from)
    for (rank to = 0; to < 4; ++to)
      if (from != to) {
        const auto v = board.judge(from, to, 0, bytes, 0);
        EXPECT_EQ(v.lost, from <= 1 && to == 2) << from << to;
        EXPECT_EQ(v.corrupted, to == 3) << from << to;
        EXPECT_EQ(v.copies == 2, from == 3) << from << to;
      }
}

TEST(fault_board, cuts_partitions_one_way_or_both) {
  const auto cuts = [](const fault& f) {
    stormy board{{f}};
    std::string text;
    for (rank from = 0; from < 4; ++from)
      for (rank to = 0; to < 4; ++to)
        if (from != to && board.judge(from, to, 0, bytes, 0).lost)
          text += std::to_string(from) + std::to_string(to) + " ";
    return text;
  };
  EXPECT_EQ(cuts({.kind = partition, .workers = {0}}), "01 02 03 10 20 30 ");
  EXPECT_EQ(cuts({.kind = partition, .nodes = {1}}), "02 03 12 13 20 21 30 31 ");
  EXPECT_EQ(cuts({.kind = partition, .workers = {0}, .one_way = true}), "01 02 03 ");
  EXPECT_EQ(cuts({.kind = partition, .from = {0}, .to = {2, 3}}), "02 03 20 30 ");
  EXPECT_EQ(cuts({.kind = partition, .from = {0}, .to = {2, 3}, .one_way = true}), "02 03 ");
}

TEST(fault_board, multiplies_slow_downs) {
  stormy board{{{.kind = slow, .workers = {0}, .factor = 3}, {.kind = slow, .nodes = {0}, .factor = 2}}};
  EXPECT_EQ(board.slow_down(0), 6);
  EXPECT_EQ(board.slow_down(1), 2);
  EXPECT_EQ(board.slow_down(2), 1);
  board.end(0);
  EXPECT_EQ(board.slow_down(0), 2);
}

TEST(fault_board, ignores_kills_and_pauses) {
  stormy board{{{.kind = kill, .workers = {0}}, {.kind = pause, .workers = {0}}}};
  EXPECT_EQ(board.judge(0, 1, 0, bytes, 0), verdict{});
  EXPECT_EQ(board.slow_down(0), 1);
}

TEST(fault_board, spaces_frames_in_a_throttle) {
  stormy board{{{.kind = throttle, .bits_per_second = 8000}, {.kind = throttle, .from = {0}, .bits_per_second = 1e6}}};
  for (int i = 0; i < 5; ++i) // sent all at once: one frame of 1000 bytes leaves each second
    EXPECT_DOUBLE_EQ(board.judge(0, 1, 0, 1000, 10).delay_s, i + 1);
  EXPECT_DOUBLE_EQ(board.judge(0, 2, 0, 1000, 10).delay_s, 1) << "each link has a throttle of its own";
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 0, 500, 12).delay_s, 3.5) << "behind the others, which leave until 15";
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 0, 500, 20).delay_s, 0.5) << "the queue has run empty";
}

TEST(fault_board, opens_a_throttle_at_its_end) {
  fault_board board{{{{.kind = throttle, .bits_per_second = 8000}}}, 2, 1, seed};
  board.begin(0, 3.0);
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 0, 2000, 0).delay_s, 2);
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 1, 2000, 0).delay_s, 3);
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 2, 2000, 0).delay_s, 3);
  board.end(0);
  EXPECT_EQ(board.judge(0, 1, 3, 2000, 3), verdict{});
}

TEST(fault_board, forgets_the_queue_of_a_throttle_that_ended_early) {
  fault_board board{{{{.kind = throttle, .bits_per_second = 8000}}}, 2, 1, seed};
  board.begin(0);
  for (const rank from : {0u, 1u})
    EXPECT_DOUBLE_EQ(board.judge(from, 1 - from, 0, 100'000, 0).delay_s, 100);
  board.end(0);
  EXPECT_DOUBLE_EQ(board.judge(0, 1, 1, 1000, 1).delay_s, 99) << "frames stay in order";
  board.begin(0);
  for (const rank from : {0u, 1u}) {
    EXPECT_DOUBLE_EQ(board.judge(from, 1 - from, 2, 1000, 2).delay_s, 98) << "with those, but not behind them";
    EXPECT_DOUBLE_EQ(board.judge(from, 1 - from, 3, 1000, 200).delay_s, 1);
  }
}

TEST(fault_board, keeps_frames_in_order_unless_a_reorder_holds_them_back) {
  fault_board board{
      {{{.kind = delay, .rate = 0.3, .seconds = 7}, {.kind = throttle, .bits_per_second = 1e5}}}, 2, 1, seed};
  double last = 0;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    const double now = 0.1 * static_cast<double>(number);
    if (number == 100 || number == 500)
      board.begin(number == 500), board.begin(0);
    if (number == 300 || number == 700)
      board.end(0);
    const double arrives = now + board.judge(0, 1, number, bytes, now).delay_s;
    EXPECT_GE(arrives, last - 1e-9) << number;
    last = arrives;
  }
  stormy mixing{{{.kind = reorder, .rate = 0.5, .seconds = 7}}};
  for (std::uint64_t number = 0, held = 0; number < 100; ++number) {
    const auto v = mixing.judge(0, 1, number, bytes, static_cast<double>(number));
    held += v.delay_s > 0;
    if (v.delay_s == 0 && held > 0)
      return; // this frame has overtaken a held one
  }
  FAIL() << "no frame overtook another";
}

TEST(fault_board, adds_delays_up_and_counts_the_highest_rate_of_several_drops) {
  stormy late{{{.kind = delay, .seconds = 1}, {.kind = delay, .from = {0}, .seconds = 2}}};
  EXPECT_EQ(late.judge(0, 1, 0, bytes, 0).delay_s, 3);
  EXPECT_EQ(late.judge(1, 0, 0, bytes, 0).delay_s, 1);
  stormy twice{{{.kind = drop, .rate = 0.1}, {.kind = drop, .rate = 0.4}}};
  expect_share(judge_all(twice, 10'000), 0.4, [](const verdict& v) { return v.lost; });
}

TEST(fault_board, copes_with_many_workers) {
  constexpr rank workers = 10'000;
  stormy board{{{.kind = throttle, .bits_per_second = 8000}, {.kind = partition, .workers = {7}}}, workers};
  for (rank from = 0; from < workers; ++from)
    ASSERT_EQ(board.judge(from, (from + 1) % workers, 0, bytes, 0).lost, from == 6 || from == 7);
}

} // namespace
} // namespace gossamer::actors
