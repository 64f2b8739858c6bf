// Mistakes of an algorithm's author, which the worker finds.
#include "gossamer/actors/collectives/all_gather.hpp"
#include "gossamer/actors/collectives/dense_sum.hpp"
#include "gossamer/actors/collectives/island_mean.hpp"
#include "gossamer/actors/collectives/packed_mean.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "script.hpp"
#include "support/usage_error.hpp"
#include "worker_fixture.hpp"

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing_support::no_gradient;
using testing_support::recording_host;
using testing_support::script;
using testing_support::tiny_world;
using testing_support::view_of;

/// Does steps of a gradient alone, in the numbers that `next` gives, until it is to end early.
class counting final : public algorithm {
public:
  using number = std::function<std::uint64_t(std::uint64_t)>;
  counting(vec x, number next, std::optional<std::uint64_t> end = std::nullopt, bool by_agreement = false)
      : x_(std::move(x)), next_(std::move(next)), end_(end), by_agreement_(by_agreement) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); t_ = next_(t_)) {
      if (t_ == end_) {
        if (by_agreement_)
          w.end_early();
        co_return;
      }
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  std::uint64_t t_ = 0;
  number next_;
  std::optional<std::uint64_t> end_;
  bool by_agreement_;
};

std::uint64_t one_more(std::uint64_t t) { return t + 1; }

/// Runs two workers. @param arguments of `counting`
template <class... Arguments>
bool ends(bool synchronous, const Arguments&... arguments) {
  buffer_pool pool;
  tiny_world world{{.workers = 2, .synchronous = synchronous, .steps = 10},
                   [&](rank) {
                     return std::make_unique<counting>(vec{pool, 1}, arguments...);
                   },
                   [](rank, std::uint64_t, const vec& x) { return x; }};
  return world.run();
}

TEST(worker_mistakes, are_steps_that_begin_again) {
  for (const bool synchronous : {true, false}) {
    EXPECT_TRUE(ends(synchronous, one_more));
    EXPECT_TRUE(ends(synchronous, [](std::uint64_t t) { return t + 3; })) << "a step may be left out";
    EXPECT_THAT(usage_error([&] { ends(synchronous, [](std::uint64_t t) { return t; }); }),
                AllOf(HasSubstr("begins step 0 after step 0"), HasSubstr("++t_")));
    EXPECT_THAT(usage_error([&] { ends(synchronous, [](std::uint64_t t) { return (t + 1) % 4; }); }),
                HasSubstr("begins step 0 after step 3"));
  }
}

TEST(worker_mistakes, are_ends_in_the_middle_of_a_step) {
  for (const bool synchronous : {true, false})
    for (const std::uint64_t end : {0u, 5u}) {
      EXPECT_THAT(usage_error([&] { ends(synchronous, one_more, std::optional{end}); }),
                  AllOf(HasSubstr("has ended in step " + std::to_string(end) + ", before training is over"),
                        HasSubstr("next_step")));
      EXPECT_TRUE(ends(synchronous, one_more, std::optional{end}, true)) << "all workers have agreed on it";
    }
}

/// Runs two workers whose life is one reduction.
void reduce(interrupted_round on_loss, bool synchronous, const script::life& life) {
  buffer_pool pool;
  tiny_world world{{.workers = 2, .synchronous = synchronous, .on_loss = on_loss},
                   [&](rank) {
                     return std::make_unique<script>(vec{pool, 8}, life);
                   },
                   no_gradient()};
  EXPECT_TRUE(world.run());
}

TEST(worker_mistakes, are_reductions_that_no_loss_would_end) {
  const std::map<std::string, script::life> all{
      {"sum_of_all", [](worker& w, vec& x) -> task<> { x = co_await mean_of_all(w, x, route::ring, 0); }},
      {"all_reduce",
       [](worker& w, vec& x) -> task<> {
         dense_sum sum{w, x};
         co_await all_reduce(w, sum, route::ring, 0);
       }},
      {"all_gather",
       [](worker& w, vec& x) -> task<> {
         auto own = w.encode(x);
         const auto every = co_await all_gather(w, std::move(own), route::ring, 0);
         x = w.mean(every);
       }},
      {"packed_mean_of_all", [](worker& w, vec& x) -> task<> { x = co_await packed_mean_of_all(w, x, 0); }},
      {"fed_back_mean::of_all",
       [](worker& w, vec& x) -> task<> {
         fed_back_mean kept;
         x = co_await kept.of_all(w, x, 0);
       }},
      {"mean_of_island", [](worker& w, vec& x) -> task<> { x = co_await mean_of_island(w, x, 0); }},
      {"mean_over_islands",
       [](worker& w, vec& x) -> task<> {
         const auto among_heads = exact_mean(route::ring);
         x = co_await mean_over_islands(w, x, 0, among_heads);
       }},
  };
  for (const auto& [name, life] : all) {
    reduce(interrupted_round::repeat, true, life);
    reduce(interrupted_round::finish, false, life); // its views are in force at once
    EXPECT_THAT(usage_error([&, life = life] { reduce(interrupted_round::finish, true, life); }),
                AllOf(HasSubstr(name + " repeats a round"), HasSubstr(".on_loss = interrupted_round::repeat")));
  }
}

/// The ranks to which a worker or master of four workers in a ring, with so many masters, sends its marker of a cut.
std::set<rank> told_of_a_cut(rank id, exchange_pattern exchange, std::size_t masters) {
  constexpr std::size_t workers = 4;
  worker_settings s;
  s.place.id = id;
  s.place.workers = s.place.ranks = workers;
  s.place.masters = masters;
  const auto ring = topology::mixing_matrix::metropolis(topology::make_topology("ring", workers, 1));
  s.place.everybody =
      first_view(std::make_shared<const topology::mixing_matrix>(ring), {true, false, true, false}, masters);
  s.training.synchronous = false;
  s.training.exchange = exchange;
  s.packing.codec = compress::make_codec("identity");
  s.training.schedule = compute::make_schedule("constant");
  recording_host host;
  buffer_pool pool;
  counting program{vec{pool, 1}, one_more};
  hosted_worker w{std::move(s), compute::make_optimiser("sgd"), host};
  w.run(program);
  w.checkpoint(1);
  std::set<rank> told;
  for (const auto& [to, f] : host.frames)
    if (f.label.kind == frame_kind::checkpoint)
      told.insert(to);
  return told;
}

TEST(worker, tells_all_of_a_cut_with_whom_it_may_have_frames_under_way) {
  EXPECT_EQ(told_of_a_cut(0, exchange_pattern::bipartite, 0), (std::set<rank>{1, 3}));
  EXPECT_EQ(told_of_a_cut(0, exchange_pattern::neighbours, 0), (std::set<rank>{1, 3}));
  EXPECT_EQ(told_of_a_cut(1, exchange_pattern::all, 0), (std::set<rank>{0, 2, 3}));
  EXPECT_EQ(told_of_a_cut(1, exchange_pattern::all, 2), (std::set<rank>{4, 5}));
  EXPECT_EQ(told_of_a_cut(5, exchange_pattern::all, 2), (std::set<rank>{0, 1, 2, 3}));
}

} // namespace
} // namespace gossamer::actors
