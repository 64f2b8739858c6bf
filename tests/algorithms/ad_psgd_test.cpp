#include "gossamer/actors/run/gradient_source.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <unordered_set>

#include "gossip_problem.hpp"
#include "usage_error.hpp"

namespace gossamer::actors {
namespace {

using testing_support::quadratics;
using testing_support::runs;
using testing_support::tiny_world;

constexpr std::size_t size = 5;

const char* const forms[] = {"ad-psgd",
                             "ad-psgd:form=snapshot",
                             "ad-psgd:averaging=per-active-gradient",
                             "ad-psgd:averaging=continuous",
                             "ad-psgd:averaging=continuous,form=snapshot",
                             "ad-psgd:in-flight=3",
                             "ad-psgd:averaging=continuous,in-flight=2"};
const char* const waiting_forms[] = {"ad-psgd:owed=1", "ad-psgd:owed=2,in-flight=3", "ad-psgd:owed=1,form=snapshot",
                                     "ad-psgd:owed=1,averaging=per-active-gradient"};

/// The forms whose gradients never wait, and those whose gradients do.
std::vector<const char*> all_forms() {
  std::vector<const char*> all{std::begin(forms), std::end(forms)};
  all.insert(all.end(), std::begin(waiting_forms), std::end(waiting_forms));
  return all;
}

/// Does nothing.
class silent final : public algorithm {
public:
  explicit silent(vec x) : x_(std::move(x)) {}
  task<> run(worker&) override { co_return; }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_); }

private:
  vec x_;
};

// Every schedule of the messages and gradients of some steps ends without a waiting worker. At its end the gradients
// alone have moved the sum of the models.
TEST(ad_psgd, ends_and_conserves_the_sum_under_thousands_of_schedules) {
  for (const char* form : all_forms())
    for (const char* topology : {"ring", "star", "hypercube"})
      for (std::uint64_t seed = 1; seed <= test::tries(250); ++seed) {
        quadratics problem{4, size, 1};
        std::vector<double> expected(size);
        tiny_world world{{.topology = topology, .workers = 4, .synchronous = false, .steps = 4, .seed = seed},
                         runs(form, problem.start()),
                         [&](rank i, std::uint64_t t, const vec& x) {
                           const auto g = problem.gradient(i, t, x.view());
                           for (std::size_t k = 0; k < size; ++k)
                             expected[k] -= 0.1 * static_cast<double>(g[k]);
                           return problem.gradients()(i, t, x);
                         }};
        ASSERT_TRUE(world.run()) << form << ", " << topology << ", schedule " << seed;
        const auto sum = world.sum_of_models();
        for (std::size_t k = 0; k < size; ++k)
          ASSERT_NEAR(sum[k], expected[k], 1e-5) << form << ", " << topology << ", schedule " << seed;
      }
}

/// Returns the number in the environment variable GOSSAMER_SCHEDULES, or the usual number of tries.
std::uint64_t schedules_to_try() {
  const char* asked = std::getenv("GOSSAMER_SCHEDULES");
  return asked ? std::stoull(asked) : test::tries(10'000);
}

// Each timing gives another order of messages and gradients.
TEST(ad_psgd, never_deadlocks_whatever_the_order_of_messages_and_gradients) {
  const std::uint64_t schedules = schedules_to_try();
  quadratics problem{4, 1, 1};
  for (const std::string form : {"ad-psgd", "ad-psgd:owed=1,in-flight=2"}) {
    std::unordered_set<std::uint64_t> orders;
    for (std::uint64_t timing = 1; timing <= schedules; ++timing) {
      tiny_world world{{.topology = "ring", .workers = 4, .synchronous = false, .steps = 3, .timing = timing},
                       runs(form, problem.start()),
                       problem.gradients()};
      ASSERT_TRUE(world.run()) << form << ", timing " << timing;
      orders.insert(world.order());
    }
    RecordProperty("distinct_orders_of_" + form, std::to_string(orders.size()));
    EXPECT_GT(orders.size(), schedules * 99 / 100) << form;
  }
}

TEST(ad_psgd, is_not_held_up_by_an_invitation_of_a_view_that_never_comes) {
  quadratics problem{4, size, 1};
  tiny_world world{{.topology = "ring", .workers = 4, .synchronous = false, .steps = 20},
                   runs("ad-psgd:owed=1", problem.start()),
                   problem.gradients()};
  for (rank i = 0; i < 4; ++i)
    world.worker(i).deliver({.source = (i + 1) % 4, .label = {frame_kind::invitation, 0, 0, 1000}});
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < 4; ++i)
    if (world.worker(i).active()) {
      EXPECT_GT(world.worker(i).averaged().done, 10u);
    }
}

// Gradients that wait for an answer count: the next gradient is taken where the optimiser will lead x.
TEST(ad_psgd, looks_ahead_by_a_step_of_the_optimiser) {
  const auto& entry = algorithms().find("ad-psgd");
  const arguments given{"algorithm", entry.about, spec::parse("ad-psgd:form=snapshot")};
  for (const char* optimiser : {"sgd", "momentum:beta=0.9", "adam"}) {
    buffer_pool pool;
    // Worker 1 asks when it has its first gradient, gets no answer, and keeps all later gradients.
    std::vector<float> taken_at;
    tiny_world world{{.topology = "ring", .optimiser = optimiser, .workers = 2, .synchronous = false, .steps = 3},
                     [&](rank i) -> std::unique_ptr<algorithm> {
                       if (i == 1)
                         return entry.make({.given = given, .initial = vec{pool, 1}});
                       return std::make_unique<silent>(vec{pool, 1});
                     },
                     [&](rank, std::uint64_t, const vec& x) {
                       taken_at.push_back(x[0]);
                       return vec{pool, std::vector{taken_at.size() == 1 ? 1.0f : -0.25f}};
                     }};
    world.run();
    ASSERT_EQ(taken_at.size(), 6u);
    const auto u = compute::make_optimiser(optimiser);
    vec x{pool, 1};
    u->step(x, vec{pool, std::vector{1.0f}}, 0.1f);
    EXPECT_EQ(taken_at[1], x[0]) << optimiser;
    for (const int kept : {1, 2, 3}) {
      vec ahead = x;
      u->clone()->step(ahead, vec{pool, std::vector{-0.25f * static_cast<float>(kept)}}, 0.1f);
      EXPECT_EQ(taken_at[static_cast<std::size_t>(kept + 1)], ahead[0]) << optimiser << ", " << kept << " kept";
    }
  }
}

TEST(ad_psgd, reaches_consensus_when_there_are_no_gradients) {
  for (const char* form : forms) {
    buffer_pool pool;
    const auto& entry = algorithms().find("ad-psgd");
    tiny_world world{{.topology = "ring", .workers = 8, .synchronous = false, .steps = 300},
                     [&](rank i) {
                       const arguments given{"algorithm", entry.about, spec::parse(form)};
                       return entry.make({.given = given, .initial = vec{pool, std::vector{static_cast<float>(i)}}});
                     },
                     [](rank, std::uint64_t, const vec& x) { return 0.0f * x; }};
    ASSERT_TRUE(world.run());
    for (rank i = 0; i < 8; ++i)
      EXPECT_NEAR(world.model(i)[0], 3.5f, 1e-3f) << form;
  }
}

run_settings small(const std::string& algorithm) {
  run_settings s;
  s.algorithm = algorithm;
  s.model = "quadratic";
  s.data = "quadratic:samples=400,dim=10";
  s.workers = 8;
  s.batch = 4;
  s.steps = 200;
  s.lr = 0.02;
  return s;
}

// A sum over a minibatch of M is M times its mean. Multiplication by a power of two rounds nothing.
TEST(ad_psgd, with_sums_of_gradients_needs_a_rate_that_is_smaller_by_the_minibatch) {
  auto sums = small("ad-psgd:gradient=sum");
  sums.lr = *sums.lr / 4;
  const auto a = simulate(prepare(small("ad-psgd")), {}), b = simulate(prepare(sums), {});
  EXPECT_EQ(a.summary.final.train_loss, b.summary.final.train_loss);
}

// Compute actors do not wait for links: a worker that is cut off has done half of its gradients as early as ever.
TEST(ad_psgd, goes_on_learning_at_full_speed_while_no_message_gets_through) {
  struct half_time final : run_observer {
    void on_evaluation(const evaluation_record& r) override {
      if (r.step >= 800 && time_s == 0)
        time_s = r.time_s;
    }
    double time_s = 0;
  };
  for (const char* form : forms) {
    auto s = small(form);
    s.eval_every = 1;
    const auto e = prepare(s);
    fault_plan silence;
    silence.faults.push_back({.kind = fault_kind::drop, .at_s = 0, .lasts_s = 10, .rate = 1});
    half_time loud, quiet;
    const auto undisturbed = simulate(e, {}, {.observer = &loud});
    const auto disturbed = simulate(e, {}, {.observer = &quiet, .faults = silence});
    EXPECT_GT(loud.time_s, 0);
    EXPECT_NEAR(quiet.time_s, loud.time_s, 0.02 * loud.time_s) << form;
    EXPECT_GT(disturbed.frames_lost, 0u);
    EXPECT_EQ(undisturbed.frames_lost, 0u);
  }
}

// A worker that returns goes on from the step of a neighbour, and its former life may have done that step.
TEST(ad_psgd, draws_other_minibatches_when_a_worker_comes_back) {
  const auto gradient = [](const char* algorithm, std::uint32_t life) {
    const auto e = prepare(small(algorithm));
    const auto g = gradient_source{e, 1, e->random_life(1, life)}.compute({.step = 3, .x = e->initial}).gradient;
    return std::vector<float>{g.view().begin(), g.view().end()};
  };
  EXPECT_EQ(gradient("ad-psgd", 1), gradient("ad-psgd", 1));
  EXPECT_NE(gradient("ad-psgd", 1), gradient("ad-psgd", 0));
  EXPECT_NE(gradient("asy-lpg", 2), gradient("asy-lpg", 1));
  EXPECT_EQ(gradient("d-psgd", 1), gradient("d-psgd", 0)); // synchronous steps are those of all workers
}

/// Counts frames when they are sent.
struct frame_counts {
  struct counting_link final : link {
    counting_link(std::unique_ptr<link> inner, std::map<frame_kind, traffic>& counts)
        : inner_(std::move(inner)), counts_(counts) {}
    void send(frame f) override {
      counts_[f.label.kind].count(f);
      inner_->send(std::move(f));
    }
    std::unique_ptr<link> inner_;
    std::map<frame_kind, traffic>& counts_;
  };
  link_wrapper wrapper() {
    return [this](rank, rank, std::unique_ptr<link> inner) {
      return std::make_unique<counting_link>(std::move(inner), of);
    };
  }
  std::map<frame_kind, traffic> of;
};

struct rates {
  double exchanges, invitations; // per update
};

/// @param slow a worker that takes ten times as long; 16 and above: none
rates rates_of(const std::string& algorithm, const std::string& topology, rank slow) {
  auto s = small(algorithm);
  s.workers = 16;
  s.topology = topology;
  if (slow < s.workers)
    s.slow[slow] = 10;
  simulation_settings patient;
  patient.sample_time_s = 0.002; // an exchange takes a fraction of a gradient
  frame_counts counts;
  const auto result = simulate(prepare(s), patient, {.wrap_link = counts.wrapper()});
  const auto requests = counts.of[frame_kind::average_request], replies = counts.of[frame_kind::average_reply],
             invitations = counts.of[frame_kind::invitation];
  EXPECT_EQ(invitations.payload_bits, 0u);
  const auto averaged = result.summary.final.averagings.value_or(averagings_record{});
  EXPECT_EQ(averaged.asked, requests.frames);
  EXPECT_EQ(averaged.done, replies.frames);
  EXPECT_EQ(result.summary.final.payload_bits, requests.payload_bits + replies.payload_bits);
  EXPECT_EQ(result.summary.final.wire_bits, requests.wire_bits + replies.wire_bits + invitations.wire_bits);
  const auto updates = static_cast<double>(result.summary.final.step);
  return {static_cast<double>(requests.frames) / updates, static_cast<double>(invitations.frames) / updates};
}

constexpr rank nobody_is_slow = 16, passive_one = 2, active_one = 3;

TEST(ad_psgd, averages_once_for_each_gradient_of_anybody_as_algorithm_1_does) {
  for (const char* topology : {"ring", "torus", "exponential", "star"})
    for (const rank slow : {nobody_is_slow, passive_one, active_one})
      EXPECT_NEAR(rates_of("ad-psgd", topology, slow).exchanges, 1, 0.02) << topology << ", slow: " << slow;
}

TEST(ad_psgd, averages_once_for_each_gradient_of_an_active_worker_if_told_so) {
  const auto on_ring = rates_of("ad-psgd:averaging=per-active-gradient", "ring", nobody_is_slow);
  EXPECT_NEAR(on_ring.exchanges, 0.5, 0.02);
  EXPECT_EQ(on_ring.invitations, 0);
  EXPECT_NEAR(rates_of("ad-psgd:averaging=per-active-gradient", "star", nobody_is_slow).exchanges, 15.0 / 16, 0.02);
}

// The links pause for the first half of 12,000 gradients.
TEST(ad_psgd, makes_up_for_a_thousand_averagings_of_a_pause_and_not_for_all) {
  auto s = small("ad-psgd");
  s.workers = 2;
  s.steps = 6000;
  simulation_settings patient;
  patient.sample_time_s = 0.002;
  const auto gradient_s = patient.sample_time_s * static_cast<double>(s.batch);
  fault_plan pause;
  pause.faults.push_back({.kind = fault_kind::drop, .at_s = 0, .lasts_s = 3000 * gradient_s, .rate = 1});
  frame_counts counts;
  simulate(prepare(s), patient, {.faults = pause, .wrap_link = counts.wrapper()});
  const auto averagings = counts.of[frame_kind::average_request].frames;
  EXPECT_GT(averagings, 6000u);
  EXPECT_LT(averagings, 6000u + 1100u);
}

/// What comes of a run of 8 workers whose gradients take 2 ms, over links of 50 ms.
run_summary over_slow_links(const std::string& algorithm) {
  auto s = small(algorithm);
  s.steps = 1000;
  simulation_settings slow;
  slow.sample_time_s = 0.0005;
  slow.network = "uniform:latency=0.05,bandwidth=1e9";
  return simulate(prepare(s), slow).summary;
}

// An active worker has an answer after 100 ms, or 50 gradients of its own and 50 of passive neighbours.
TEST(ad_psgd, averages_n_times_as_often_over_slow_links_with_n_exchanges_under_way) {
  const auto one = over_slow_links("ad-psgd").final;
  ASSERT_TRUE(one.averagings);
  EXPECT_NEAR(static_cast<double>(one.averagings->done), static_cast<double>(one.step) / 100, 8);
  for (const std::uint64_t n : {2u, 4u, 8u}) {
    const auto several = over_slow_links("ad-psgd:in-flight=" + std::to_string(n)).final;
    EXPECT_NEAR(static_cast<double>(several.averagings->done), static_cast<double>(n * one.averagings->done),
                0.05 * static_cast<double>(several.averagings->done))
        << n;
    EXPECT_NEAR(several.time_s, one.time_s, 0.101)
        << "but for the exchange under way at the end, gradients take as long";
  }
}

TEST(ad_psgd, accounts_for_every_averaging_that_is_due) {
  const auto r = over_slow_links("ad-psgd").final;
  const auto& [asked, done, dropped] = *r.averagings;
  EXPECT_LE(done, asked);
  EXPECT_LE(asked, done + 4) << "each of 4 active workers has at most one exchange under way";
  EXPECT_LE(asked + dropped, r.step);
  EXPECT_GT(asked + dropped, r.step * 9 / 10) << "the last invitations are under way";
}

TEST(ad_psgd, lets_gradients_wait_for_averagings_if_told_so) {
  for (const int owed : {1, 10}) {
    const auto r = over_slow_links("ad-psgd:in-flight=2,owed=" + std::to_string(owed));
    EXPECT_LE(r.final.step - r.final.averagings->done, 8 * static_cast<std::uint64_t>(owed + 1));
    for (const auto steps : r.steps_per_worker)
      EXPECT_NEAR(static_cast<double>(steps), 1000, 100) << "actives and passives wait alike";
  }
}

TEST(ad_psgd, refuses_options_that_exclude_each_other) {
  for (const char* spelling : {"ad-psgd:form=snapshot,in-flight=2", "ad-psgd:averaging=continuous,owed=1"}) {
    const auto said = usage_error([&] { prepare(small(spelling))->make_algorithm(); });
    EXPECT_NE(said.find("ad-psgd"), std::string::npos) << spelling;
  }
}

TEST(ad_psgd, averages_without_pause_if_told_so) {
  const auto rates = rates_of("ad-psgd:averaging=continuous", "ring", nobody_is_slow);
  EXPECT_GT(rates.exchanges, 1.5);
  EXPECT_EQ(rates.invitations, 0);
}

} // namespace
} // namespace gossamer::actors
