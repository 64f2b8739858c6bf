#include "gossamer/actors/agreement/coordination.hpp"
#include "gossamer/actors/evaluation/checkpoints.hpp"

#include <gmock/gmock.h>

#include "actors/small_run.hpp"

namespace gossamer::actors {

namespace {

/// Checkpoints of three workers, due every ten steps.
class checkpoints_test : public testing::Test {
protected:
  static std::shared_ptr<const experiment> run() {
    auto s = small_run("ad-psgd", "star", 3, 100)->settings;
    s.checkpoint.steps = 10;
    return prepare(s);
  }
  std::optional<manifest> add(rank i, std::uint64_t checkpoint, std::uint64_t gradients = 10) {
    return all_.add({i, 0, checkpoint, {.digest = i, .gradients = gradients, .sent = {}}}, members_, seen_, 2.5);
  }

  const std::shared_ptr<const experiment> run_ = run();
  membership members_{*run_, everybody_of(*run_)};
  ledger seen_{3};
  checkpoints all_{*run_};
};

TEST_F(checkpoints_test, are_due_every_so_many_steps_of_each_worker) {
  EXPECT_FALSE(all_.due(1, 29, members_));
  EXPECT_TRUE(all_.due(1, 30, members_));
}

TEST_F(checkpoints_test, are_due_every_so_many_seconds) {
  auto s = run_->settings;
  s.checkpoint = {.seconds = 5, .steps = 0};
  const auto timed = prepare(s);
  checkpoints all{*timed};
  EXPECT_FALSE(all.due(4.9, 1000, members_));
  EXPECT_TRUE(all.due(5, 1000, members_));
}

TEST_F(checkpoints_test, are_not_due_while_one_is_under_way) {
  ASSERT_TRUE(all_.due(1, 30, members_));
  EXPECT_FALSE(all_.due(1, 60, members_)) << "it has been ordered";
  add(0, 1);
  EXPECT_FALSE(all_.due(1, 90, members_)) << "parts are missing";
  add(1, 1);
  ASSERT_TRUE(add(2, 1));
  EXPECT_FALSE(all_.due(1, 120, members_)) << "the manifest is being written";
  all_.complete(1);
  EXPECT_TRUE(all_.due(1, 120, members_));
}

TEST_F(checkpoints_test, are_complete_with_the_last_part) {
  seen_.bring(7, {});
  EXPECT_FALSE(add(0, 4));
  EXPECT_FALSE(add(2, 4, 20));
  EXPECT_FALSE(add(2, 4)) << "twice";
  const auto whole = add(1, 4);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->checkpoint, 4u);
  EXPECT_EQ(whole->parts.size(), 3u);
  EXPECT_EQ(whole->updates(), 47u);
  EXPECT_EQ(whole->time_s, 2.5);
  EXPECT_TRUE(all_.is_being_written());
  all_.complete(4);
  EXPECT_FALSE(all_.is_being_written());
}

TEST_F(checkpoints_test, know_when_the_last_part_became_safe) {
  const auto add_at = [&](rank i, std::uint64_t checkpoint, double time_s) {
    all_.add({i, 0, checkpoint, {.digest = i, .gradients = 10, .sent = {}}}, members_, seen_, time_s);
    return all_.heard_s();
  };
  EXPECT_EQ(all_.heard_s(), 0);
  EXPECT_EQ(add_at(0, 4, 3), 3);
  EXPECT_EQ(add_at(1, 4, 14), 14) << "a slow disk";
  EXPECT_EQ(add_at(1, 4, 20), 14) << "twice";
  EXPECT_EQ(add_at(2, 3, 20), 14) << "of an old one";
  EXPECT_EQ(add_at(2, 4, 30), 30) << "the last one, whose manifest is to be written";
}

TEST_F(checkpoints_test, are_given_up_when_a_worker_is_lost_whose_part_is_missing) {
  add(0, 4);
  EXPECT_THAT(all_.lose(0), testing::IsEmpty()) << "its part is safe";
  EXPECT_TRUE(all_.is_being_written());
  EXPECT_THAT(all_.lose(1), testing::ElementsAre(4u));
  EXPECT_FALSE(all_.is_being_written());
  EXPECT_FALSE(add(1, 4));
  EXPECT_FALSE(add(2, 4)) << "no manifest for what is not whole";
}

TEST_F(checkpoints_test, are_given_up_when_a_master_is_lost_though_its_part_is_safe) {
  const auto served = small_run("async-sgd", "auto", 3, 100);
  const membership members{*served, everybody_of(*served)};
  const auto master = static_cast<rank>(served->settings.worker_ranks());
  checkpoints all{*served};
  EXPECT_FALSE(all.add({master, 0, 4, {.digest = 1, .gradients = 0, .sent = {}}}, members, seen_, 2.5));
  EXPECT_THAT(all.lose(master), testing::ElementsAre(4u));
  EXPECT_FALSE(all.is_being_written());
}

TEST_F(checkpoints_test, are_torn_when_a_master_is_lost_before_their_first_part_comes) {
  const auto served = small_run("async-sgd", "auto", 3, 10);
  const auto master = static_cast<rank>(served->settings.worker_ranks());
  const membership members{*served, everybody_of(*served)};
  checkpoints all{*served};
  EXPECT_THAT(all.lose(master), testing::IsEmpty());
  EXPECT_FALSE(all.is_torn(1, members)) << "it is not ordered";
  ASSERT_TRUE(all.due(1, 1'000'000, members));
  all.lose(0);
  EXPECT_FALSE(all.is_torn(1, members)) << "a worker's next life begins with a state of others";
  all.lose(master);
  EXPECT_TRUE(all.is_torn(1, members));
  EXPECT_TRUE(all.fail(1));
  EXPECT_FALSE(all.is_torn(1, members));
  ASSERT_TRUE(all.due(2, 2'000'000, members));
  EXPECT_FALSE(all.is_torn(2, members)) << "it was ordered afterwards";
}

// Such a checkpoint would be taken for complete, and push out those with the model.
TEST_F(checkpoints_test, do_not_begin_while_a_master_is_away) {
  const auto served = small_run("async-sgd", "auto", 3, 10);
  const auto master = static_cast<rank>(served->settings.worker_ranks());
  membership members{*served, everybody_of(*served)};
  checkpoints all{*served};
  members.end(master);
  EXPECT_FALSE(all.due(1, 1'000'000, members));
  EXPECT_TRUE(all.is_torn(4, members)) << "one that another leader ordered";
  auto next = everybody_of(*served);
  next.number = 2;
  next.lives[master] = 1;
  next.donors[master] = 0;
  members.adopt(next);
  EXPECT_FALSE(all.due(2, 1'000'000, members)) << "it has no model yet";
  members.joined(master);
  EXPECT_TRUE(all.due(2, 1'000'000, members)) << "nothing is waited for";
}

TEST_F(checkpoints_test, of_a_former_leader_are_given_up) {
  checkpoints all{*run_, 7};
  for (rank i = 0; i < 3; ++i)
    EXPECT_FALSE(all.add({i, 0, 7, {.digest = i, .gradients = 10, .sent = {}}}, members_, seen_, 2.5));
  EXPECT_FALSE(all.is_being_written());
  EXPECT_FALSE(all.add({0, 0, 8, {.digest = 0, .gradients = 10, .sent = {}}}, members_, seen_, 2.5));
  EXPECT_TRUE(all.is_being_written());
}

TEST_F(checkpoints_test, are_given_up_when_a_disk_refuses) {
  add(0, 4);
  EXPECT_FALSE(all_.fail(3)) << "an old one";
  EXPECT_TRUE(all_.fail(4));
  EXPECT_FALSE(all_.fail(4)) << "no news";
  EXPECT_FALSE(add(1, 4));
  EXPECT_FALSE(add(0, 5)) << "the next one begins";
  EXPECT_TRUE(all_.is_being_written());
}

TEST_F(checkpoints_test, are_given_up_when_a_disk_refuses_the_first_part) {
  ASSERT_TRUE(all_.due(1, 30, members_));
  EXPECT_TRUE(all_.fail(4));
  EXPECT_FALSE(all_.fail(4)) << "no news";
  EXPECT_FALSE(add(1, 4)) << "of one that is given up";
  EXPECT_FALSE(all_.is_being_written());
  EXPECT_TRUE(all_.due(2, 60, members_)) << "nothing is waited for";
}

TEST_F(checkpoints_test, that_never_come_are_forgotten) {
  ASSERT_TRUE(all_.due(1, 30, members_));
  EXPECT_FALSE(all_.due(60, 60, members_));
  EXPECT_TRUE(all_.due(61, 60, members_));
  EXPECT_FALSE(all_.due(180, 500, members_)) << "what waits for a slow disk is held in memory";
  EXPECT_TRUE(all_.due(181, 500, members_));
}

/// Returns the number of the checkpoint that this leader orders now.
std::uint64_t ordered_by(coordination& leader) {
  const auto orders = leader.on(checkpoint_due{});
  return orders.empty() ? 0 : std::get<save_checkpoint>(orders.front()).number;
}

TEST(ordered_checkpoints, have_no_number_that_another_leader_has_ordered) {
  const auto whole = small_run("ad-psgd", "star", 2, 5);
  for (const auto& run : {whole, whole->after({.checkpoint = 7, .workers = 2})}) {
    auto last = consensus::founding({0, 0}, {0}, 10);
    auto newest = run->done.checkpoint;
    for (int leaders = 0; leaders < 3; ++leaders, ++last.what.number) {
      coordination leader{*run, last};
      EXPECT_GE(coordination::checkpoints_before(*run, last.number()), newest);
      const auto first = ordered_by(leader);
      EXPECT_GT(first, newest) << "although this leader has heard of no order";
      for (int orders = 0; orders < 1000; ++orders)
        newest = ordered_by(leader);
      EXPECT_EQ(newest, first + 1000);
    }
  }
}

} // namespace

} // namespace gossamer::actors
