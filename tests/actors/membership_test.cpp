#include "gossamer/actors/agreement/membership.hpp"

#include <gmock/gmock.h>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;

/// A leader's knowledge of three workers and two masters.
class membership_test : public testing::Test {
protected:
  static constexpr auto synchronous = "d-psgd", asynchronous = "async-sgd:shards=2";
  static std::shared_ptr<const experiment> run_of(const std::string& algorithm) {
    return small_run(algorithm, "ring", 3);
  }
  static view_change next(std::map<rank, std::uint32_t> lives, std::map<rank, rank> donors = {}) {
    return {.number = 2, .first_step = 5, .lives = std::move(lives), .donors = std::move(donors)};
  }
};

TEST_F(membership_test, begins_with_everybody_who_is_in_the_view) {
  const auto e = run_of(asynchronous);
  const membership m{*e, everybody_of(*e)};
  EXPECT_THAT(m.living(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(m.who_is_ready(), ElementsAre(true, true, true, true, true));
  EXPECT_EQ(m.population(), 5u);
  EXPECT_TRUE(m.masters_are_ready());
  const membership later{*e, next({{0, 0}, {2, 7}, {3, 4}}, {{2, 0}})};
  EXPECT_THAT(later.living(), ElementsAre(0, 2, 3));
  EXPECT_THAT(later.who_is_ready(), ElementsAre(true, false, false, true, false)) << "worker 2 gets a state first";
  EXPECT_EQ(later.incarnation(2), 7u);
  EXPECT_FALSE(later.masters_are_ready());
}

TEST_F(membership_test, knows_whose_life_is_over_before_a_view_says_so) {
  const auto e = run_of(synchronous);
  membership m{*e, everybody_of(*e)};
  EXPECT_TRUE(m.is_current(1, 0));
  EXPECT_FALSE(m.is_current(1, 1));
  EXPECT_FALSE(m.is_current(3, 0)) << "there is no such rank";
  m.end(1);
  m.end(1); // a second notice
  EXPECT_FALSE(m.alive(1) || m.ready(1) || m.is_current(1, 0));
  EXPECT_EQ(m.population(), 2u);
  m.adopt(everybody_of(*e));
  EXPECT_FALSE(m.alive(1)) << "that view is known already";
  EXPECT_TRUE(m.names_the_dead());
  m.adopt(next({{0, 0}, {1, 0}}));
  EXPECT_THAT(m.living(), ElementsAre(0)) << "that view has not heard of it";
  m.leave_out(0);
  EXPECT_FALSE(m.alive(0));
  auto aware = next({{0, 0}, {1, 2}, {2, 0}}, {{1, 0}});
  aware.number = 3;
  m.adopt(aware);
  EXPECT_TRUE(m.alive(0)) << "left out, and back";
  EXPECT_FALSE(m.names_the_dead());
  EXPECT_TRUE(m.is_current(1, 2));
  EXPECT_FALSE(m.ready(1));
  m.joined(1);
  EXPECT_TRUE(m.ready(1));
}

TEST_F(membership_test, takes_a_synchronous_worker_that_is_a_round_behind_for_one_that_is_not_ready) {
  const auto e = run_of(synchronous);
  membership m{*e, everybody_of(*e)};
  m.adopt(next({{0, 0}, {1, 0}, {2, 0}}, {{2, 1}}));
  EXPECT_THAT(m.who_is_ready(), ElementsAre(true, true, false));
}

TEST_F(membership_test, leaves_an_asynchronous_worker_the_state_that_it_got_while_another_was_agreed_on) {
  const auto e = run_of(asynchronous);
  const std::map<rank, std::uint32_t> lives{{0, 0}, {1, 2}, {2, 0}, {3, 0}, {4, 0}};
  membership m{*e, next(lives, {{1, 0}})};
  m.joined(1);
  auto third = next(lives, {{1, 2}});
  third.number = 3;
  m.adopt(third);
  EXPECT_TRUE(m.ready(1));
  third.number = 4;
  third.lives[1] = 4;
  m.adopt(third);
  EXPECT_FALSE(m.ready(1)) << "that is another life";
}

TEST_F(membership_test, is_the_same_when_it_has_been_read_back) {
  const auto e = run_of(asynchronous);
  membership m{*e, next({{0, 0}, {2, 7}, {3, 4}}, {{2, 0}})}, other{*e, everybody_of(*e)};
  m.end(0);
  archive_writer saved, again;
  m.fields(saved);
  archive_reader reader{saved.bytes(), buffer_pool{}};
  other.fields(reader);
  reader.finish();
  other.fields(again);
  EXPECT_EQ(saved.bytes(), again.bytes());
  EXPECT_EQ(other.living(), m.living());
}

} // namespace
} // namespace gossamer::actors
