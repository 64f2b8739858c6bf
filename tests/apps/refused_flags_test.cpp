// Flags that commands of many runs give to their runs themselves.
#include "gossamer/apps/detail/advise.hpp"
#include "gossamer/apps/detail/reproduce.hpp"
#include "gossamer/apps/reproductions/detail/runs.hpp"

#include <gmock/gmock.h>

#include "support/usage_error.hpp"

namespace gossamer::apps {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

reproduction of_two_algorithms() {
  reproduction r;
  r.name = "both";
  r.methods = {{.name = "a", .given = {"--algorithm", "d-psgd"}}, {.name = "b", .given = {"--algorithm", "sgp"}}};
  return r;
}

TEST(refused_flags, of_advise_are_what_it_chooses) {
  for (const char* flag : {"--algorithm", "--codec=sign", "--lr", "--bandwidth-factor"})
    EXPECT_THAT(usage_error([&] {
                  check_not_chosen({"--workers", "8", flag});
                }),
                AllOf(HasSubstr("advise chooses or varies it"), HasSubstr("leave it out")));
  EXPECT_NO_THROW(check_not_chosen({"--seed", "3", "--lrr", "--data", "digits"}));
}

TEST(refused_flags, of_a_reproduction_are_what_it_compares) {
  auto r = of_two_algorithms();
  for (const char* flag : {"--algorithm=ad-psgd", "--seed"})
    EXPECT_THAT(usage_error([&] { check_not_compared(r, {flag}); }), HasSubstr("both compares --algorithm, --seed"));
  EXPECT_NO_THROW(check_not_compared(r, {"--lr", "0.1"}));
  r.rates = {0.1, 0.2};
  EXPECT_THAT(usage_error([&] { check_not_compared(r, {"--lr"}); }), HasSubstr("--lr is given"));
}

TEST(refused_flags, of_several_reproductions_are_those_of_each) {
  reproduce_options o;
  o.names = {"tang2018-figure1", "no-such"};
  o.more = {"--seed"};
  EXPECT_THAT(usage_error([&] { check_not_compared(o); }), HasSubstr("tang2018-figure1 compares"));
  o.more = {"--batch"};
  EXPECT_NO_THROW(check_not_compared(o));
  o.names = {};
  o.more = {"--seed"};
  EXPECT_THAT(usage_error([&] { check_not_compared(o); }), HasSubstr("every reproduction compares"));
  o.more = {"--algorithm"};
  EXPECT_NO_THROW(check_not_compared(o));
  o.all = true;
  EXPECT_THAT(usage_error([&] { check_not_compared(o); }), HasSubstr("--algorithm is given"));
}

TEST(flags_of_one_run, have_a_seed_of_the_reproduction_or_the_users) {
  auto r = of_two_algorithms();
  EXPECT_THAT(flags_of(r, r.methods[1], {}, 0, 2, {}),
              ElementsAre("--algorithm", "sgp", "--seed", "2", "--check", "no", "--trace", "no"));
  r.seeds = 0;
  EXPECT_NO_THROW(check_not_compared(r, {"--seed", "7"}));
  EXPECT_THAT(flags_of(r, r.methods[1], {}, 0, 1, {"--seed", "7"}),
              ElementsAre("--algorithm", "sgp", "--check", "no", "--trace", "no", "--seed", "7"));
  EXPECT_THAT(flags_of(r, r.methods[1], {}, 0, 1, {}), Not(Contains("--seed")));
}

} // namespace
} // namespace gossamer::apps
