// What workers that leave had kept back, which their heirs must add to their own.
#include <gmock/gmock.h>

#include "audited_workers.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::nothing;
using testing_support::triangle;
using testing_support::view_on;

/// Workers 0 to 2, of whom worker 1 is to leave before step 5 and hands what it had kept back to worker 2.
struct farewell : testing_support::audited_workers {
  farewell() {
    check.adopts(2, view_on(triangle, {0, 0, 0}));
    check.step_begins(1, 4, view_on(triangle, {0, 0, 0}));
    check.hands_over(1, 2, residual);
  }
  void arrives() { check.delivered(2, {.source = 1, .sequence = 1, .label = {frame_kind::residual, 5}, .body = {}}); }
  void goes_on_without_it() { check.adopts(2, view_on({{0, 2}}, {0, nothing, 0}, 2, 5)); }
  void ends() {
    check.ends(1, 0);
    check.check_halves();
  }

  vec residual = filled({1, 2});
};

TEST(auditor_of_residuals, asks_an_heir_for_the_residual_that_it_has_got) {
  farewell kept;
  kept.arrives();
  kept.goes_on_without_it();
  kept.check.takes_over(2, 1, kept.residual, kept.filled({3, 3}), kept.filled({4, 5}));
  kept.ends();
  EXPECT_TRUE(kept.kept()) << kept.broken();
  farewell forgotten;
  forgotten.arrives();
  forgotten.goes_on_without_it();
  forgotten.ends();
  EXPECT_THAT(forgotten.broken(), HasSubstr("worker 1 has left, and what it had kept back is lost: worker 2"));
  farewell changed;
  changed.arrives();
  changed.goes_on_without_it();
  changed.check.takes_over(2, 1, changed.residual, changed.filled({3, 3}), changed.filled({4, 3}));
  EXPECT_THAT(changed.broken(), HasSubstr("does not add what worker 1 had kept back"));
}

TEST(auditor_of_residuals, asks_nobody_for_the_residual_of_a_worker_that_is_lost_before_it_has_left) {
  farewell dies;
  dies.ends();
  dies.goes_on_without_it();
  dies.check.check_halves();
  EXPECT_TRUE(dies.kept()) << dies.broken();
  farewell is_cut_off;
  is_cut_off.goes_on_without_it();
  is_cut_off.arrives();
  is_cut_off.ends();
  EXPECT_TRUE(is_cut_off.kept()) << is_cut_off.broken();
}

TEST(auditor_of_residuals, forgets_the_residual_of_a_farewell_that_was_put_off) {
  farewell f;
  f.arrives();
  f.check.step_begins(2, 5, view_on(triangle, {0, 0, 0})); // another worker leaves, too: all pause once more, later
  f.check.ends(1, 0);
  f.goes_on_without_it();
  f.check.check_halves();
  EXPECT_TRUE(f.kept()) << f.broken();
}

} // namespace
} // namespace gossamer::actors
