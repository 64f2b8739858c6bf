// The shards that a worker's minibatches are drawn from, through changes of view.
#include "gossamer/compute/redeal.hpp"

#include "worker_fixture.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using namespace testing_support;

/// Computes a gradient in each step.
class plain_sgd final : public algorithm {
public:
  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      x_.mutate()[0] += g.view()[0];
    }
  }
  void fields(archive& a) override { a(x_)(t_); }
  const vec& model() const override { return x_; }

private:
  buffer_pool pool_;
  vec x_{pool_, 1};
  std::uint64_t t_ = 0;
};

/// Keeps the last gradient job, which names its shards.
struct asked_host final : worker_host {
  void compute(gradient_job j) override { job = std::move(j); }
  void report(step_report) override {}
  void report(snapshot) override {}
  void send(rank, frame) override {}
  traffic sent() const override { return {}; }
  std::chrono::nanoseconds now() const override { return {}; }
  void wake_at(std::chrono::nanoseconds) override {}

  gradient_job job;
};

using shards_of_view = std::shared_ptr<const compute::redealt_shards>;

struct samples_fixture {
  explicit samples_fixture(std::uint32_t incarnation = 0, bool synchronous = true)
      : w(settings(incarnation, synchronous), compute::make_optimiser("sgd"), host) {
    w.run(program);
  }
  static worker_settings settings(std::uint32_t incarnation, bool synchronous) {
    auto s = worker_fixture{}.settings(0, incarnation, synchronous);
    s.witness = nullptr; // the witness has died with its fixture
    return s;
  }
  static shards_of_view new_shards() {
    return std::make_shared<const compute::redealt_shards>(std::make_shared<const compute::shards>(3), 1,
                                                           std::vector<rank>{0, 1});
  }
  void adopt(std::uint32_t number, std::uint64_t first_step, std::uint64_t sampled_from, shards_of_view shards,
             lives there = {0, 0, nothing}, std::map<rank, rank> donors = {}) {
    auto v = *view_of(number, first_step, std::move(there), std::move(donors));
    v.shards = std::move(shards);
    v.sampled_from = sampled_from;
    w.adopt(std::make_shared<const view>(std::move(v)));
  }
  /// Returns the shards of the gradient that is under way, and completes the gradient.
  shards_of_view next() {
    const auto job = host.job;
    w.gradient_arrived({.step = job.step, .gradient = job.x, .loss = 0});
    return job.shards;
  }

  asked_host host;
  plain_sgd program;
  hosted_worker w; // last: its coroutine refers to the rest
};

TEST(samples_of_a_worker, are_the_partitions_while_nobody_is_lost) {
  samples_fixture f;
  for (int t = 0; t < 3; ++t)
    EXPECT_EQ(f.next(), nullptr);
}

TEST(samples_of_a_worker, change_at_the_first_step_of_a_view) {
  samples_fixture f;
  const auto one = f.new_shards();
  f.adopt(2, 2, 2, one);
  f.adopt(3, 4, 4, nullptr, {0, 0, 1}, {{2, 1}});
  const std::vector seen{f.next(), f.next(), f.next(), f.next(), f.next()};
  EXPECT_THAT(seen, ElementsAre(nullptr, nullptr, one, one, nullptr));
}

TEST(samples_of_a_worker, change_behind_the_round_that_is_done_again) {
  samples_fixture f;
  const auto one = f.new_shards(), two = f.new_shards();
  f.adopt(2, 2, 3, one);
  f.adopt(3, 3, 4, two);
  f.adopt(4, 4, 5, nullptr, {0, 0, 1}, {{2, 1}});
  const std::vector seen{f.next(), f.next(), f.next(), f.next(), f.next(), f.next()};
  EXPECT_THAT(seen, ElementsAre(nullptr, nullptr, nullptr, one, two, nullptr));
}

TEST(samples_of_a_worker, change_at_once_where_there_are_no_rounds) {
  samples_fixture f{0, false};
  const auto one = f.new_shards();
  EXPECT_EQ(f.next(), nullptr);
  f.adopt(2, 0, 0, one);
  EXPECT_EQ(f.next(), nullptr) << "which was under way";
  EXPECT_EQ(f.next(), one);
}

TEST(samples_of_a_worker, are_those_of_the_first_view_that_it_knows_for_one_who_comes_back) {
  samples_fixture f{1};
  const auto one = f.new_shards();
  f.adopt(5, 7, 8, one, {1, 0, nothing}, {{0, 1}});
  archive_writer state;
  buffer_pool pool;
  vec model{pool, std::vector{0.0f}};
  std::uint64_t t = 7, encodings = 0;
  state(model)(t)(encodings);
  f.w.deliver({.source = 1, .label = {frame_kind::state, t, 0, 5}, .body = compress::opaque(state.bytes(), pool)});
  EXPECT_EQ(f.host.job.step, 7u);
  EXPECT_EQ(f.next(), one);
}

} // namespace
} // namespace gossamer::actors
