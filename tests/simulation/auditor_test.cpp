#include "gossamer/actors/run/experiment.hpp"

#include <gmock/gmock.h>

#include "audited_workers.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::edges;
using testing_support::nothing;
using testing_support::triangle;
using testing_support::view_on;
using fixture = testing_support::audited_workers;

// -- frames -----------------------------------------------------------------------------------------------------------

TEST(auditor, notices_what_was_sent_in_a_step_and_never_received) {
  fixture f;
  f.check.dropped_stale(1, {.source = 2, .label = {frame_kind::model, 7}, .body = {}}, 9);
  EXPECT_THAT(f.broken(), AllOf(HasSubstr("worker 1 begins step 9"), HasSubstr("the model of step 7 from worker 2")));
}

TEST(auditor, tells_the_frames_of_a_program_apart) {
  fixture f;
  f.check.delivered(1, {.source = 2, .sequence = 4, .label = {frame_kind{141}, 7, 3}, .body = {}});
  EXPECT_THAT(f.broken(), HasSubstr("frame 4 of worker 2 (own 141, step 7, part 3) after frame 0"));
}

TEST(auditor, lets_frames_pass_that_come_once_and_in_order_between_any_two_lives) {
  fixture f;
  for (std::uint32_t k = 1; k < 4; ++k) {
    f.deliver(0, 1, k);
    f.deliver(0, 2, k);
    f.deliver(1, 0, k);
  }
  f.restart(1, 1);
  f.deliver(0, 1, 1, 1); // a new life of the sender
  f.deliver(1, 0, 1);    // a new life of the receiver
  f.deliver(0, 2, 4);
  EXPECT_TRUE(f.kept()) << f.broken();
}

TEST(auditor, notices_frames_that_come_twice_or_too_early) {
  fixture twice;
  twice.deliver(0, 1, 1);
  twice.deliver(0, 1, 1);
  EXPECT_THAT(twice.broken(), AllOf(HasSubstr("worker 0 got frame 1 of worker 1 (model, step 7) after frame 1"),
                                    HasSubstr("twice or out of order")));
  fixture gap;
  gap.deliver(2, 1, 1);
  gap.deliver(2, 1, 3);
  EXPECT_THAT(gap.broken(), AllOf(HasSubstr("worker 2 got frame 3 of worker 1"), HasSubstr("in between is missing")));
  fixture first;
  first.deliver(2, 0, 2);
  EXPECT_THAT(first.broken(), HasSubstr("in between is missing"));
  fixture new_life;
  new_life.deliver(0, 1, 1);
  new_life.restart(1, 1);
  new_life.deliver(0, 1, 2, 1);
  EXPECT_THAT(new_life.broken(), HasSubstr("in between is missing"));
}

TEST(auditor, compares_the_ledger_with_what_was_carried) {
  const frame sent{.source = 1, .label = {frame_kind::model}, .body = {}};
  traffic ledger;
  fixture f;
  f.check.reports(1, ledger);
  f.check.carried(sent);
  ledger.count(sent);
  f.check.reports(1, ledger);
  f.check.reports(0, {});
  f.restart(1, 1);
  f.check.reports(1, {});
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.reports(1, ledger);
  EXPECT_THAT(f.broken(), HasSubstr("the ledger of worker 1 has 1 frames and 136 bits, 0 of them between islands, but "
                                    "its links have carried 0"));
}

// -- views and steps --------------------------------------------------------------------------------------------------

TEST(auditor, accepts_good_views) {
  fixture f;
  const auto all = view_on(triangle, {0, 0, 0}), fewer = view_on({{0, 2}}, {0, nothing, 0}, 2),
             alone = view_on({}, {nothing, nothing, 0}, 3);
  for (const auto* v : {&all, &fewer, &alone})
    for (rank i = 0; i < 3; ++i)
      f.check.adopts(i, *v);
  EXPECT_TRUE(f.kept()) << f.broken();
}

TEST(auditor, notices_that_two_workers_have_different_views) {
  fixture f;
  const auto one = view_on(triangle, {0, 0, 0}), same = view_on(triangle, {0, 0, 0}),
             other = view_on(triangle, {0, 0, 1});
  f.check.adopts(0, one);
  f.check.adopts(2, same);
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.adopts(1, other);
  EXPECT_THAT(f.broken(), HasSubstr("worker 1 has another view 1 than the others"));
}

TEST(auditor, notices_graphs_that_are_not_connected_or_lead_to_the_lost) {
  fixture apart;
  apart.check.adopts(0, view_on({{0, 1}}, {0, 0, 0}, 4));
  EXPECT_THAT(apart.broken(), HasSubstr("the graph of view 4 is not connected"));
  fixture lost;
  lost.check.adopts(0, view_on(triangle, {0, nothing, 0}, 5));
  EXPECT_NE(lost.broken(), "nothing is broken");
}

TEST(auditor, notices_neighbours_of_one_colour_where_exchanges_are_asked_and_answered) {
  auto v = view_on({{0, 1}, {1, 2}}, {0, 0, 0});
  v.active = {true, false, true};
  fixture good{true};
  good.check.adopts(0, v);
  EXPECT_TRUE(good.kept()) << good.broken();
  v.active = {true, false, false};
  fixture bad{true};
  bad.check.adopts(0, v);
  EXPECT_THAT(bad.broken(), HasSubstr("view 1 joins 1 and 2, which must not be neighbours"));
}

TEST(auditor, notices_neighbours_that_are_too_many_steps_apart) {
  const auto v = view_on(triangle, {0, 0, 0});
  fixture f;
  for (std::uint64_t t = 0; t < 3; ++t)
    for (const rank i : {2u, 0u, 1u})
      f.check.step_begins(i, t, v);
  f.check.step_begins(0, 3, v);
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.step_begins(0, 4, v);
  EXPECT_THAT(f.broken(), HasSubstr("worker 0 begins step 4 while its neighbour 1 is in step 2"));
}

/// Returns the last steps that a neighbour may be in beside workers in the steps 0, 1, 2 and so on.
std::vector<std::uint64_t> beside(const std::string& algorithm) {
  run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=24,dim=3";
  s.batch = 1;
  const auto limit = prepare(s)->last_step_beside();
  std::vector<std::uint64_t> result;
  for (std::uint64_t t = 0; limit && t < 6; ++t)
    result.push_back(limit(t));
  return result;
}

TEST(the_distance_of_neighbours, follows_from_the_exchanges_of_the_algorithm) {
  EXPECT_THAT(beside("d-psgd"), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(beside("choco-sgd"), ElementsAre(2, 3, 4, 5, 6, 7)) << "two exchanges";
  EXPECT_THAT(beside("marsit:local-steps=3"), ElementsAre(2, 2, 5, 5, 5, 8));
  EXPECT_THAT(beside("local-sgd:period=3"), ElementsAre(2, 2, 5, 5, 5, 8));
  EXPECT_THAT(beside("ad-psgd"), IsEmpty()) << "it promises nothing";
}

TEST(auditor, allows_any_distance_to_strangers_to_the_dead_and_across_the_first_step_of_a_view) {
  fixture line; // 0 - 1 - 2
  const auto v = view_on({{0, 1}, {1, 2}}, {0, 0, 0});
  line.check.step_begins(2, 0, v);
  line.check.step_begins(1, 1, v);
  line.check.step_begins(0, 2, v);
  EXPECT_TRUE(line.kept()) << line.broken();

  fixture dead;
  const auto all = view_on(triangle, {0, 0, 0});
  for (rank i = 0; i < 3; ++i)
    dead.check.step_begins(i, 0, all);
  dead.check.ends(1, 0);
  for (std::uint64_t t = 1; t < 5; ++t)
    for (const rank i : {0u, 2u})
      dead.check.step_begins(i, t, all);
  dead.check.begins(1, 1);
  dead.check.step_begins(1, 5, view_on(triangle, {0, 1, 0}, 2, 5));
  dead.check.step_begins(0, 9, view_on(triangle, {0, 1, 0}, 3, 9)); // its first step with the new worker 1
  EXPECT_TRUE(dead.kept()) << dead.broken();

  fixture unbounded{false, {}};
  unbounded.check.step_begins(0, 0, all);
  unbounded.check.step_begins(1, 99, all);
  EXPECT_TRUE(unbounded.kept());
}

// -- claims -----------------------------------------------------------------------------------------------------------

TEST(auditor, notices_a_difference_whoever_claims_first) {
  for (const auto& [first, second] : {std::pair{0u, 1u}, {1u, 0u}, {2u, 1u}, {1u, 2u}}) {
    fixture f;
    f.check.claims_equal(first, "the model", 3, f.filled({1, 2}));
    f.check.claims_equal(second, "the model", 3, f.filled({1, 2.5f}));
    EXPECT_THAT(f.broken(), AllOf(HasSubstr("workers " + std::to_string(first) + " and " + std::to_string(second)),
                                  HasSubstr("differ in the model of step 3")));
  }
}

TEST(auditor, compares_claims_of_one_name_and_step_only) {
  fixture f;
  f.check.claims_equal(0, "the model", 3, f.filled({1}));
  f.check.claims_equal(1, "the gradient", 3, f.filled({2}));
  f.check.claims_equal(1, "the model", 4, f.filled({3}));
  f.check.claims_equal(1, "the model", 3, f.filled({1}));
  f.check.claims_equal(2, "the model", 3, f.filled({1}));
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.claims_equal(2, "the model", 4, f.filled({3, 0}));
  EXPECT_THAT(f.broken(), HasSubstr("differ in the model of step 4"));
}

TEST(auditor, forgets_what_the_dead_claimed_to_be_equal) {
  fixture f;
  f.check.claims_equal(1, "the model", 3, f.filled({1}));
  f.restart(1, 1);
  f.check.claims_equal(0, "the model", 3, f.filled({2})); // the step is repeated without worker 1
  f.check.claims_equal(1, "the model", 3, f.filled({2}));
  EXPECT_TRUE(f.kept()) << f.broken();
}

// Worker 1's process is cut off, and does not know that the others go on without it.
TEST(auditor, binds_nobody_to_what_those_do_whom_the_newest_view_leaves_out) {
  const auto all = view_on(triangle, {0, 0, 0}), two = view_on({{0, 2}}, {0, nothing, 0}, 2);
  fixture f;
  f.check.adopts(1, all);
  f.check.claims_equal(1, "the model", 3, f.filled({1}));
  for (rank i = 0; i < 3; ++i)
    f.check.step_begins(i, 3, all);
  f.check.adopts(0, two);
  f.check.step_begins(0, 5, all); // a step of the old view that worker 0 still finishes
  f.check.claims_equal(0, "the model", 3, f.filled({2}));
  f.check.claims_equal(1, "the model", 4, f.filled({4}));
  f.check.claims_equal(0, "the model", 4, f.filled({5}));
  EXPECT_THAT(f.broken(), HasSubstr("while its neighbour 2 is in step 3")); // worker 2 is still a member
  EXPECT_THAT(f.broken(), testing::Not(HasSubstr("differ")));
}

TEST(auditor, notices_that_two_nodes_go_by_different_resolutions) {
  consensus::resolution one, other;
  one.what.number = other.what.number = 4;
  other.what.limit = 9;
  fixture f;
  f.check.resolves(0, one);
  f.check.resolves(1, one);
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.resolves(2, other);
  EXPECT_THAT(f.broken(), HasSubstr("node 2 goes by another resolution 4 than the others"));
}

TEST(auditor, adds_up_what_is_conserved_over_the_members_of_a_view) {
  const auto all = view_on(triangle, {0, 0, 0}), two = view_on({{0, 2}}, {0, nothing, 0}, 2);
  fixture f;
  f.check.claims_conserved(0, "the sum", 1, all, f.filled({3, 0}), f.filled({2, 0}));
  f.check.claims_conserved(1, "the sum", 1, all, f.filled({0, 0}), f.filled({1, 1}));
  EXPECT_TRUE(f.kept()) << "not all have claimed";
  f.check.claims_conserved(2, "the sum", 1, all, f.filled({0, 1}), f.filled({0, 0}));
  f.check.claims_conserved(0, "the sum", 2, two, f.filled({1, 1}), f.filled({2, 1}));
  f.check.claims_conserved(2, "the sum", 2, two, f.filled({2, 1}), f.filled({1, 1}));
  f.check.claims_conserved(0, "the sum", 3, two, f.filled({0, 0}), f.filled({0, 0}));
  f.check.claims_conserved(2, "the sum", 3, two, f.filled({0, 0}), f.filled({0, 0}));
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.claims_conserved(0, "the sum", 4, two, f.filled({1, 1}), f.filled({2, 1}));
  f.check.claims_conserved(2, "the sum", 4, two, f.filled({2, 1}), f.filled({1, 1.5f}));
  EXPECT_THAT(f.broken(), HasSubstr("the sum changed by 0.5 in element 1 of step 4, though it is conserved"));
}

TEST(auditor, allows_rounding_errors_and_no_more_and_no_numbers_that_are_none) {
  const auto two = view_on({{0, 1}}, {0, 0, nothing});
  const auto changed_by = [&](float difference) {
    fixture f;
    f.check.claims_conserved(0, "the sum", 1, two, f.filled({100}), f.filled({100 + difference}));
    f.check.claims_conserved(1, "the sum", 1, two, f.filled({1}), f.filled({1}));
    return !f.kept();
  };
  EXPECT_FALSE(changed_by(1e-3f));
  EXPECT_TRUE(changed_by(1e-2f));
  EXPECT_TRUE(changed_by(-1e-2f));
  EXPECT_TRUE(changed_by(std::numeric_limits<float>::quiet_NaN()));
}

exchange_half half_of(std::uint64_t number, std::uint32_t asker_life = 0, std::uint32_t answerer_life = 0) {
  return {.asker = 0,
          .answerer = 2,
          .asker_incarnation = asker_life,
          .answerer_incarnation = answerer_life,
          .number = number};
}

TEST(auditor, accepts_exchanges_whose_halves_cancel_in_either_order) {
  fixture f;
  f.check.claims_opposite(0, half_of(1), f.filled({1, -2, 0}));
  f.check.claims_opposite(2, half_of(2), f.filled({3, 0, 0}));
  f.check.claims_opposite(2, half_of(1), f.filled({-1, 2, 0}));
  f.check.claims_opposite(0, half_of(2), f.filled({-3, 0, 0}));
  f.check.check_halves();
  EXPECT_TRUE(f.kept()) << f.broken();
}

TEST(auditor, notices_halves_that_do_not_cancel_are_missing_or_come_twice) {
  fixture unequal;
  unequal.check.claims_opposite(0, half_of(1), unequal.filled({1, 2}));
  unequal.check.claims_opposite(2, half_of(1), unequal.filled({-1, -2.25f}));
  EXPECT_THAT(unequal.broken(), HasSubstr("exchange 1 between 0 and 2 changed the sum of their models"));
  fixture twice;
  twice.check.claims_opposite(2, half_of(1), twice.filled({1}));
  twice.check.claims_opposite(2, half_of(1), twice.filled({-1}));
  EXPECT_THAT(twice.broken(), HasSubstr("worker 2 applied its half of exchange 1 between 0 and 2 twice"));
  fixture missing;
  missing.check.claims_opposite(2, half_of(5), missing.filled({1}));
  EXPECT_TRUE(missing.kept()) << "the other half may be under way";
  missing.check.check_halves();
  EXPECT_THAT(missing.broken(),
              AllOf(HasSubstr("exchange 5 between 0 and 2 is half applied"), HasSubstr("only worker 2 did its half")));
}

TEST(auditor, does_not_ask_for_the_halves_of_the_dead) {
  fixture f;
  f.check.claims_opposite(0, half_of(1), f.filled({1}));
  f.restart(2, 1);
  f.check.claims_opposite(0, half_of(2), f.filled({1})); // an exchange with the former life
  f.check.claims_opposite(0, half_of(2, 0, 1), f.filled({1}));
  f.check.claims_opposite(2, half_of(2, 0, 1), f.filled({-1}));
  f.check.check_halves();
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.ends(2, 0); // heard late: the present life goes on
  f.check.claims_opposite(0, half_of(3, 0, 1), f.filled({1}));
  f.check.check_halves();
  EXPECT_FALSE(f.kept());
}

TEST(auditor, keeps_the_first_broken_promise) {
  fixture f;
  f.deliver(0, 1, 3);
  const auto first = f.broken();
  f.deliver(0, 2, 3);
  EXPECT_EQ(f.broken(), first);
  const broken_promise thrown{first};
  EXPECT_EQ(thrown.code(), errc::failed);
  EXPECT_EQ(thrown.sentence(), first);
}

TEST(auditor, forgets_open_claims_after_a_while) {
  fixture f;
  for (std::uint64_t t = 0; t < 1000; ++t)
    f.check.claims_equal(0, "the model", t, f.filled({1}));
  f.check.claims_equal(1, "the model", 0, f.filled({2})); // a claim so old that the auditor has forgotten it
  EXPECT_TRUE(f.kept()) << f.broken();
  f.check.claims_equal(1, "the model", 999, f.filled({2}));
  EXPECT_FALSE(f.kept());
}

} // namespace
} // namespace gossamer::actors
