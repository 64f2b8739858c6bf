#include "gossamer/actors/hosting/worker_gauge.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Lt;
using testing::Pair;
using testing::SizeIs;

constexpr tag model{frame_kind::model, 3};

std::int64_t used(const time_sheet& s, activity what) { return s.used().of(what); }

TEST(time_sheet, blames_each_of_overlapping_waits_and_counts_them_once_as_waiting) {
  time_sheet sheet;
  sheet.wait_begins(1, model, 10ns, 0ns);
  sheet.wait_begins(2, model, 20ns, 0ns);
  EXPECT_EQ(sheet.wait_ends(1, 50ns), 10ns);
  EXPECT_EQ(used(sheet, activity::waiting), 0) << "it waits for 2";
  EXPECT_EQ(sheet.wait_ends(2, 70ns), 20ns);
  EXPECT_EQ(used(sheet, activity::waiting), 60);
  EXPECT_THAT(sheet.waited(), ElementsAre(Pair(1, 40ns), Pair(2, 50ns)));
  EXPECT_EQ(sheet.wait_ends(2, 80ns), std::nullopt) << "it does not wait";
}

TEST(time_sheet, does_not_count_handlers_that_run_meanwhile_as_waiting) {
  time_sheet sheet;
  sheet.wait_begins(1, model, 10ns, 4ns); // in a handler that goes on for another 6 ns
  sheet.works(activity::computing, 10ns);
  sheet.works(activity::compressing, 5ns); // another handler
  sheet.wait_ends(1, 100ns);
  EXPECT_EQ(used(sheet, activity::waiting), 90 - 6 - 5);
}

TEST(time_sheet, adds_gradients_to_computing_and_blames_nobody_for_waits_that_are_given_up) {
  time_sheet sheet;
  sheet.computes(30ns);
  sheet.works(activity::computing, 2ns);
  sheet.wait_begins(1, model, 0ns, 0ns);
  sheet.give_up(8ns);
  EXPECT_EQ(used(sheet, activity::computing), 32);
  EXPECT_EQ(sheet.gradients(), 30ns);
  EXPECT_EQ(used(sheet, activity::waiting), 8);
  EXPECT_THAT(sheet.waited(), IsEmpty());
  EXPECT_THAT(sheet.waits(), IsEmpty());
}

TEST(worker_activity, names_waits_under_way_as_the_time_has_passed_until_now) {
  time_sheet sheet;
  sheet.wait_begins(1, model, 10ns, 0ns);
  const auto seen = activity_of(0, sheet, 25ns);
  EXPECT_THAT(seen.waits_for, ElementsAre(1));
  EXPECT_THAT(seen.waited_ns, ElementsAre(Pair(1, 15)));
  EXPECT_THAT(seen.used_ns, ElementsAre(0, 0, 0, 15));
}

TEST(worker_activity, keeps_the_peers_that_matter_most) {
  std::map<rank, std::uint64_t> values;
  for (rank i = 0; i < 3 * worker_activity::most_peers; ++i)
    values[i] = i / 2; // each twice
  keep_largest(values);
  EXPECT_THAT(values, SizeIs(worker_activity::most_peers));
  EXPECT_EQ(values.begin()->first, 2 * worker_activity::most_peers);
}

TEST(workers_record, keeps_the_busiest_links_and_the_longest_waits_of_many_workers) {
  constexpr rank workers = 400;
  workers_record r;
  r.of.resize(workers);
  for (rank i = 0; i < workers; ++i) {
    worker_activity one{.who = i, .used_ns = {i, 0, 0, 2}};
    for (rank k = 0; k < 10; ++k) {
      one.bits_per_second[k] = 10 * i + k;
      one.waited_ns[k] = i;
      one.waits_for.push_back(k);
    }
    add(r, one);
  }
  keep_largest(r);
  EXPECT_THAT(r.links, SizeIs(workers_record::most_pairs));
  EXPECT_EQ(r.links.front().bits_per_second, 10u * (workers - 1) + 9);
  EXPECT_TRUE(std::ranges::is_sorted(r.links, std::ranges::greater{}, &workers_record::link::bits_per_second));
  EXPECT_THAT(r.waited, SizeIs(workers_record::most_pairs));
  EXPECT_EQ(r.waited.front().waiter, workers - 1);
  EXPECT_THAT(r.waits.value(), SizeIs(workers_record::most_waits));
  EXPECT_EQ(r.used[7].of(activity::computing), 7);
  EXPECT_EQ(r.used[7].of(activity::waiting), 2);
}

frame of_bits(std::uint64_t bits) {
  frame f;
  f.body.bits = bits;
  return f;
}

TEST(worker_gauge, gives_the_rate_of_each_link_since_the_sample_before) {
  worker_gauge gauge{0};
  gauge.sample(1s);
  const auto f = of_bits(8);
  for (int k = 0; k < 4; ++k)
    gauge.sent()->count(k < 3 ? 1 : 2, f);
  const auto each = 8 * f.wire_bytes();
  EXPECT_THAT(gauge.sample(3s).bits_per_second, ElementsAre(Pair(1, 3 * each / 2), Pair(2, each / 2)));
  EXPECT_THAT(gauge.sample(4s).bits_per_second, IsEmpty());
  EXPECT_THAT(gauge.sample(5s).used_ns, IsEmpty()) << "it measures no time";
  EXPECT_EQ(gauge.sent()->total().frames, 4u);
}

TEST(worker_gauge, tells_what_the_time_of_handlers_was_used_for) {
  worker_gauge gauge{0, true};
  {
    const worker_gauge::handling handled{gauge};
    const worker_gauge::sending counted{gauge};
    gauge.wait_begins(0, 3, model);
  }
  const auto waits = gauge.sample(1s);
  EXPECT_THAT(waits.waits_for, ElementsAre(3));
  EXPECT_THAT(waits.used_ns, SizeIs(activities.size()));
  EXPECT_GT(waits.used_ns[static_cast<std::size_t>(activity::communicating)], 0u);
  {
    const worker_gauge::handling handled{gauge};
    gauge.wait_ends(0, 3);
  }
  const auto after = gauge.sample(2s);
  EXPECT_THAT(after.waits_for, IsEmpty());
  EXPECT_THAT(after.waited_ns, ElementsAre(Pair(3, AllOf(Ge(1u), Lt(10'000'000'000u)))));
}

TEST(worker_gauge, counts_the_work_of_its_coder_as_compressing) {
  const auto gauge = std::make_shared<worker_gauge>(0, true);
  const auto coder = measured(std::make_shared<const compress::coder>(), gauge);
  buffer_pool pool;
  const vec v{pool, std::vector(1000, 1.5f)};
  {
    const worker_gauge::handling handled{*gauge};
    EXPECT_EQ(coder->decode(coder->encode(*compress::make_codec("identity"), v, {1, 0, purpose::quantise}, 0)), v);
  }
  EXPECT_GT(gauge->sample(1s).used_ns[static_cast<std::size_t>(activity::compressing)], 0u);
}

TEST(worker_gauge, counts_the_payload_to_other_islands_apart) {
  const auto bits = [](island_map islands) {
    gauge_board board{false, nullptr, std::move(islands)};
    const auto gauge = board.open(2);
    for (const rank to : {0u, 1u, 3u})
      gauge->sent()->count(to, of_bits(1u << to));
    EXPECT_EQ(gauge->sent()->total().payload_bits, 1u + 2u + 8u);
    EXPECT_EQ(gauge->sent()->by_peer()[3].bits_between_islands, 0u);
    return gauge->sent()->total().bits_between_islands;
  };
  EXPECT_EQ(bits([](rank i) { return std::size_t{i / 2}; }), 1u + 2u);
  EXPECT_EQ(bits({}), 0u);
}

TEST(worker_gauge, of_a_later_life_begins_anew) {
  gauge_board board{true};
  board.open(2)->sent()->count(1, of_bits(8));
  board.open(2);
  const auto all = board.sample(1s);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].who, 2u);
  EXPECT_THAT(all[0].bits_per_second, IsEmpty());
}

} // namespace
} // namespace gossamer::actors
