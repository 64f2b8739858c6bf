// The counts of evaluations never go back, whoever comes, goes and runs ahead.
#include "gossamer/actors/evaluation/evaluations.hpp"
#include "gossamer/actors/evaluation/progress_meter.hpp"

#include <gtest/gtest.h>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

TEST(evaluations, leave_what_a_late_comer_has_done_to_a_later_one) {
  const auto run = small_run("noloco", "ring", 3, 100);
  auto lives = everybody_of(*run);
  membership members{*run, lives};
  evaluations book{*run};
  ledger reports{run->participants()};
  for (rank i = 0; i < 3; ++i)
    reports.record(i, 0, 10, {});

  // worker 2 dies at step 10, and comes back with the state of another at step 12, which worker 1 has not reached
  lives.number = 2;
  lives.lives[2] = 2;
  lives.donors[2] = 0;
  members.adopt(lives);
  reports.begin(2, 2);
  reports.record(2, 2, 5, {}); // it has run ahead, to step 17
  reports.record(0, 0, 14, {});
  book.open(11, members); // asked of those that are ready: worker 2 is not
  for (rank i = 0; i < 2; ++i)
    book.add({.source = i, .incarnation = 0, .evaluation = 11, .gradients = 11, .sent = {}}, members);
  book.close_complete(reports, members, 1);
  const auto* first = book.begin();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->record.step, 11u + 11u + 10u) << "not 5 more";
  const auto counted = first->record.step;
  ASSERT_TRUE(book.finish(first->request));

  members.joined(2);
  reports.record(2, 2, 9, {});
  for (rank i = 0; i < 2; ++i)
    book.add({.source = i, .incarnation = 0, .evaluation = 12, .gradients = 12, .sent = {}}, members);
  book.add({.source = 2, .incarnation = 2, .evaluation = 12, .gradients = 0, .sent = {}}, members);
  book.close_complete(reports, members, 2);
  const auto* second = book.begin();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->record.step, 12u + 12u + 10u);
  EXPECT_GE(second->record.step, counted);
}

TEST(evaluations, of_a_next_leader_count_no_less_than_the_last_ones) {
  const auto run = small_run("noloco", "ring", 3, 100);
  const membership members{*run, everybody_of(*run)};
  ledger books{run->participants()};
  for (rank i = 0; i < 3; ++i)
    books.record(i, 0, 10, {});
  evaluations next{*run};
  next.add(books);
  auto reports = books;
  for (rank i = 0; i < 2; ++i) {
    reports.record(i, 0, 12, {});
    next.add({.source = i, .incarnation = 0, .evaluation = 12, .gradients = 12, .sent = {}}, members);
  }
  next.forget(2); // it skips this evaluation
  next.close_complete(reports, members, 2);
  const auto* first = next.begin();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->record.step, 12u + 12u + 10u);
}

TEST(progress_meter, tells_of_averagings_of_pairs_once_one_is_counted) {
  const auto run = small_run("ad-psgd", "ring", 2, 100);
  progress_meter meter{*run};
  meter.count({.source = 0, .step = 4});
  EXPECT_FALSE(meter.at(1, {}).averagings_per_step) << "an algorithm of a program may count none";
  meter.count({.source = 0, .step = 5, .sent = {.averaged = {.asked = 2, .done = 1}}});
  EXPECT_EQ(meter.at(1, {}).averagings_per_step, 0.2);
}

TEST(progress_meter, has_no_time_left_when_the_last_models_come_late) {
  run_settings s = small_run("d-psgd", "ring", 2, 100)->settings;
  s.seconds = 5;
  const auto run = prepare(s);
  progress_meter meter{*run};
  meter.count({.source = 0, .step = 4});
  EXPECT_EQ(meter.at(4, {}).remaining_s, 1);
  EXPECT_EQ(meter.at(16, {}).remaining_s, 0);
}

} // namespace
} // namespace gossamer::actors
