// Common features of the SVRG family: tasks, epochs, the bound on staleness, faults and bits.
#include "gossamer/actors/collectives/ask.hpp"
#include "gossamer/actors/simulated/simulated_world.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "svrg_problem.hpp"

namespace gossamer::actors {
namespace {

using testing_support::logistic_problem;
using testing_support::svrg_run;
using kind = svrg_kind;

const std::vector<std::string> family{"acc-asy-fpg",          "acc-asy-lpg", "asy-fpg", "asy-lpg",
                                      "asy-lpg:model-bits=0", "halp",        "qsvrg",   "sparse-asy-lpg"};

bool told(kind k) { return k == kind::model || k == kind::offset || k == kind::same_as_snapshot; }

/// Counts every frame when it is sent.
struct ledger {
  std::map<kind, std::uint64_t> frames = {}, bits = {};

  std::function<void(rank, const frame&)> hears() {
    return [this](rank, const frame& f) {
      const auto k = svrg_label::of(f.label.part).kind;
      ++frames[k];
      bits[k] += f.body.bits;
    };
  }
};

TEST(svrg, is_prox_svrg_with_one_worker) {
  for (const std::uint64_t staleness : {0u, 100u}) {
    svrg_run run{.problem = {200, 12},
                 .algorithm = "asy-fpg:staleness=" + std::to_string(staleness),
                 .workers = 1,
                 .batch = 10,
                 .epochs = 4};
    run.go();
    const auto& p = run.problem;
    std::vector<std::size_t> all = p.part(0, 1);
    std::vector<float> x(p.dimension());
    std::uint64_t t = 0;
    for (std::uint64_t s = 0; s < run.epochs; ++s) {
      const logistic_problem::point anchor{x.begin(), x.end()};
      const auto full = p.gradient(anchor, all);
      for (std::uint64_t k = 0; k < 20; ++k, ++t) {
        const auto a = p.batch(0, t, 10);
        const auto here = p.gradient({x.begin(), x.end()}, a), there = p.gradient(anchor, a);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double v = static_cast<double>(x[i]) - 0.3 * (here[i] - there[i] + full[i]);
          x[i] = static_cast<float>(logistic_problem::shrink(v, 0.3 * logistic_problem::l1));
        }
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(run.world->model(run.master())[i], x[i], 1e-5f);
    EXPECT_EQ(t, run.epochs * run.epoch_length());
  }
}

TEST(svrg, sends_the_bits_that_the_papers_count) {
  constexpr std::uint64_t d = 20;
  struct row {
    std::string algorithm;
    std::uint64_t model, gradient; // bits per frame
    bool exact_gradients;
  };
  for (const auto& [algorithm, model, gradient, exact_gradients] :
       {row{"asy-fpg", 32 * d, 32 * d, true}, row{"acc-asy-fpg", 32 * d, 32 * d, true},
        row{"qsvrg:gradient-bits=4", 32 * d, 32 + 4 * d, false}, row{"halp:model-bits=6", 32 + 6 * d, 32 * d, true},
        row{"asy-lpg", 32 + 8 * d, 32 + 8 * d, false},
        row{"asy-lpg:model-bits=8,gradient-bits=4", 32 + 8 * d, 32 + 4 * d, false},
        row{"acc-asy-lpg:model-bits=6,gradient-bits=4", 32 + 6 * d, 32 + 4 * d, false}}) {
    svrg_run run{.problem = {400, d}, .algorithm = algorithm, .epochs = 3};
    ledger all;
    std::uint64_t models_of_zero = 0, gradients_of_zero = 0;
    run.on_send = [&, hears = all.hears(), model = model, exact_gradients = exact_gradients](rank to, const frame& f) {
      hears(to, f);
      const auto k = svrg_label::of(f.label.part).kind;
      if ((k == kind::model && model != 32 * d) || (k == kind::gradient && !exact_gradients))
        if (sum_of_squares(compress::decode(f.body).view()) == 0) // the scale alone is sent
          ++(k == kind::gradient ? gradients_of_zero : models_of_zero);
    };
    run.go();
    const auto models = all.frames[kind::model] + all.frames[kind::offset], gradients = all.frames[kind::gradient];
    EXPECT_GE(gradients, 3 * run.epoch_length()) << algorithm;
    EXPECT_EQ(all.bits[kind::model] + all.bits[kind::offset], (models - models_of_zero) * model + models_of_zero * 32)
        << algorithm;
    EXPECT_EQ(all.bits[kind::gradient], (gradients - gradients_of_zero) * gradient + gradients_of_zero * 32)
        << algorithm;
    EXPECT_LE(models_of_zero, run.workers) << algorithm;
    // Per epoch, every worker gets the snapshot once, and every part of the full gradient is sent once.
    const auto snapshots = all.bits[kind::snapshot] + all.bits[kind::snapshot_part];
    EXPECT_EQ(snapshots, 32 * d * (all.frames[kind::snapshot] + all.frames[kind::snapshot_part])) << algorithm;
    EXPECT_GE(snapshots, 32 * d * run.workers * 3) << algorithm;
    EXPECT_LE(snapshots, 32 * d * run.workers * 4) << algorithm;
    EXPECT_EQ(all.bits[kind::nothing], 0u) << algorithm;
    // Parts are asked for in frames without payload, and answered in exact floats.
    EXPECT_EQ(all.bits[kind::part] % (32 * d), 0u) << algorithm;
    EXPECT_GE(all.bits[kind::part], 32 * d * run.workers * 3) << algorithm;
    EXPECT_LE(all.bits[kind::part], 32 * d * run.workers * 4) << algorithm;
    std::uint64_t sent = 0, heard = 0;
    for (rank i = 0; i <= run.workers; ++i)
      sent += run.world->sent(i).payload_bits;
    for (const auto& [k, bits] : all.bits)
      heard += bits;
    EXPECT_EQ(sent, heard) << algorithm;
  }
}

TEST(svrg, says_in_one_bit_that_x_is_the_snapshot) {
  svrg_run run{.problem = {400, 20}, .algorithm = "asy-lpg:model-bits=0", .epochs = 4};
  std::map<std::uint32_t, std::uint64_t> flags; // by epoch
  run.on_send = [&](rank to, const frame& f) {
    const auto label = svrg_label::of(f.label.part);
    if (to == run.master() || label.kind != kind::same_as_snapshot)
      return;
    EXPECT_EQ(f.body.bits, 1u);
    EXPECT_EQ(run.world->model(run.master()), run.snapshots.back());
    ++flags[label.number];
  };
  run.go();
  for (std::uint32_t epoch = 1; epoch <= 4; ++epoch)
    EXPECT_GE(flags[epoch], 1u) << epoch;
}

TEST(svrg, lets_no_gradient_cross_an_epoch_and_asks_for_exactly_m) {
  for (const auto& algorithm : family)
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      svrg_run run{.problem = {130, 5}, .algorithm = algorithm, .workers = 5, .batch = 20, .epochs = 5, .seed = seed};
      std::map<std::uint32_t, std::uint64_t> asked, answered;
      std::uint32_t last = 0;
      run.on_send = [&, master = run.master()](rank to, const frame& f) {
        const auto label = svrg_label::of(f.label.part);
        if (to != master && told(label.kind)) {
          EXPECT_GE(label.number, last);
          if (label.number != last) {
            EXPECT_EQ(answered[last], last == 0 ? 0 : 7u) << algorithm; // ceil(130 / 20)
          }
          last = label.number;
          ++asked[label.number];
        }
      };
      run.on_delivery = [&, master = run.master()](rank to, const frame& f) {
        const auto label = svrg_label::of(f.label.part);
        if (to == master && label.kind == kind::gradient) {
          EXPECT_EQ(label.number, last) << algorithm;
          ++answered[label.number];
        }
      };
      run.go();
      for (std::uint32_t epoch = 1; epoch < last; ++epoch) {
        EXPECT_EQ(asked[epoch], 7u) << algorithm;
        EXPECT_EQ(answered[epoch], 7u) << algorithm;
      }
      EXPECT_GE(last, 5u);
    }
}

TEST(svrg, applies_no_gradient_that_is_staler_than_allowed) {
  for (const auto& algorithm : family)
    for (const std::uint64_t tau : {0u, 1u, 3u, 100u}) {
      svrg_run run{.problem = {400, 5},
                   .algorithm = algorithm + (algorithm.find(':') == std::string::npos ? ":" : ",")
                                + "staleness=" + std::to_string(tau),
                   .workers = 6,
                   .epochs = 3};
      std::map<rank, std::uint64_t> read;
      std::uint64_t applied = 0, oldest = 0;
      run.on_send = [&, master = run.master()](rank to, const frame& f) {
        if (to != master && told(svrg_label::of(f.label.part).kind))
          read[to] = applied;
      };
      run.on_delivery = [&, master = run.master()](rank to, const frame& f) {
        if (to == master && svrg_label::of(f.label.part).kind == kind::gradient)
          oldest = std::max(oldest, applied++ - read[f.source]);
      };
      run.go();
      EXPECT_LE(oldest, tau) << algorithm;
      EXPECT_GE(oldest, std::min<std::uint64_t>(tau, 3)) << algorithm; // staleness reaches the bound
    }
}

/// Asks for a task, and answers a task that it was not given.
class confused_worker final : public algorithm {
public:
  confused_worker(vec x, svrg_label answer) : x_(std::move(x)), answer_(answer) {}
  task<> run(worker& w) override {
    const packet nothing;
    co_await ask(w, w.master(0), 1, svrg_label{}.packed(), nothing);
    const auto body = w.encode(x_);
    co_await ask(w, w.master(0), 2, answer_.packed(), body);
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_); }

private:
  vec x_;
  svrg_label answer_;
};

TEST(svrg, refuses_gradients_of_another_epoch_and_parts_that_nobody_asked_for) {
  logistic_problem p{40, 5};
  for (const svrg_label answer : {svrg_label{kind::gradient, 1}, svrg_label{kind::gradient, 2},
                                  svrg_label{kind::part, 1}, svrg_label{kind::snapshot, 0}}) {
    const auto usual = testing_support::runs_with_master("asy-fpg", 1, p.start());
    testing_support::tiny_world world{{.workers = 1, .masters = 1, .synchronous = false},
                                      [&](rank i) -> std::unique_ptr<algorithm> {
                                        return i == 0 ? std::make_unique<confused_worker>(p.start(), answer) : usual(i);
                                      },
                                      p.answers(20, 1)};
    try {
      world.run();
      ADD_FAILURE();
    } catch (const error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("worker 0 answered what it was not asked in epoch 1"));
    }
  }
}

// -- faults -----------------------------------------------------------------------------------------------------------

/// AsyFPG's master. Checks its own epochs.
class watched_master final : public svrg_master {
public:
  using svrg_master::svrg_master;
  inline static std::uint64_t epochs = 0, wrong = 0;

private:
  void begin(worker& w) override {
    const auto m = static_cast<std::uint64_t>(std::ceil(w.updates_per_epoch()));
    wrong += updates() != (epoch() - 1) * m;
    epochs = std::max(epochs, epoch());
  }
  told_model tell(worker& w) override { return {svrg_kind::model, w.encode(x_)}; }
  void step(worker& w, const vec& u) override { w.update(x_, u, updates()); }
};

std::shared_ptr<const experiment> watched_run(std::uint64_t seed) {
  static const auto entry = [] {
    auto e = algorithms().find("asy-fpg");
    e.make_master = [](const algorithm_setup& s) -> std::unique_ptr<algorithm> {
      return std::make_unique<watched_master>(s);
    };
    return std::array{e};
  }();
  static const registry<algorithm_entry> known{"algorithm", entry};
  run_settings s;
  s.algorithm = "asy-fpg";
  s.model = "quadratic";
  s.data = "quadratic:samples=402,dim=10";
  s.workers = 4;
  s.batch = 20;
  s.steps = 200;
  s.lr = 0.02;
  s.seed = seed;
  return prepare(s, {.algorithms = known});
}

TEST(svrg, completes_its_epochs_when_master_and_workers_die_at_any_time) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto e = watched_run(seed);
    const double horizon = 200 * 20 * simulation_settings{}.sample_time_s;
    random_sequence draw{{seed, 0, purpose::chaos}, 1};
    fault_plan plan;
    for (int k = 0; k < 6; ++k) // rank 4 is the master
      plan.faults.push_back({.kind = fault_kind::kill,
                             .workers = {k % 2 == 0 ? 4 : 1 + draw.below(3)},
                             .at_s = horizon * (0.1 + 0.12 * k + 0.02 * draw.uniform_double()),
                             .lasts_s = 0.05 * horizon});
    simulation_settings quick;
    quick.detection_s = 0.002;
    quick.interleaving = seed;
    watched_master::epochs = watched_master::wrong = 0;
    const auto result = simulate(e, quick, {.faults = plan}); // throws unless every gradient is added once
    EXPECT_EQ(result.summary.lost, 6u);
    EXPECT_EQ(result.summary.returned, 6u);
    EXPECT_EQ(watched_master::wrong, 0u) << "seed " << seed;
    EXPECT_GE(watched_master::epochs, 800 / 21u) << "seed " << seed;
  }
}

TEST(svrg, refuses_bits_that_there_are_no_codes_of) {
  for (const char* spec : {"asy-lpg:model-bits=1", "asy-lpg:model-bits=20", "acc-asy-lpg:gradient-bits=17",
                           "qsvrg:gradient-bits=24", "sparse-asy-lpg:model-bits=17"}) {
    run_settings s;
    s.algorithm = spec;
    s.model = "quadratic";
    s.data = "quadratic:samples=40,dim=10";
    try {
      prepare(s);
      ADD_FAILURE() << spec;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_THAT(e.what(), testing::HasSubstr("-bits of algorithm '"));
      EXPECT_THAT(e.what(), testing::HasSubstr("2 to 16, and 32 for exact floats"));
    }
  }
}

TEST(svrg, refuses_a_lossy_codec_because_bits_are_its_parameters) {
  for (const auto& algorithm : family) {
    run_settings s;
    s.algorithm = algorithm;
    s.codec = "uniform:bits=8";
    EXPECT_THROW(prepare(s), error) << algorithm;
  }
}

} // namespace
} // namespace gossamer::actors
