// The command inside of a program: its own model and data, exceptions, and a stop.
#include "gossamer/apps/embedded.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/usage_error.hpp"

namespace gossamer::apps {
namespace {

using testing::HasSubstr;
using words = std::vector<std::string>;

/// (1/2) |x - number of the sample|^2 for each of two coordinates.
class distance_model final : public compute::model {
public:
  explicit distance_model(std::function<void()> noted) : noted_(std::move(noted)) {}
  std::size_t dimension() const override { return 2; }
  void initial_point(std::span<float> x, const random_stream&) const override { std::ranges::fill(x, 8.0f); }
  double loss_and_gradient(std::span<const float> x, const compute::batch& samples,
                           std::span<float> gradient) override {
    noted_();
    std::ranges::fill(gradient, 0.0f);
    const auto share = 1 / static_cast<float>(samples.indices.size());
    for (const auto i : samples.indices)
      for (std::size_t k = 0; k < 2; ++k)
        gradient[k] += share * (x[k] - static_cast<float>(i));
    return static_cast<double>(x[0]) * static_cast<double>(x[0]);
  }
  compute::evaluation evaluate(std::span<const float> x, const compute::batch&) override {
    return {.loss = static_cast<double>(x[0]), .accuracy = {}};
  }
  std::unique_ptr<model> clone() const override { return std::make_unique<distance_model>(*this); }

private:
  std::function<void()> noted_;
};

class embedded : public testing::Test {
protected:
  embedded() {
    folder_ = std::filesystem::path(testing::TempDir()) / ("gossamer-embedded-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~embedded() override { std::filesystem::remove_all(folder_); }

  int run(const words& more) {
    const compute::model_entry model{
        .about = {.name = "distance", .summary = "of this test"},
        .make = [this](const arguments&, const compute::dataset&) -> std::unique_ptr<compute::model> {
          return std::make_unique<distance_model>([this] { noted_(); });
        }};
    const compute::data_entry data{.about = {.name = "numbers", .summary = "of this test"},
                                   .load = [](const arguments&, const compute::data_files&, std::uint64_t) {
                                     compute::data_split split;
                                     split.train.samples = 5;
                                     split.test.samples = 1;
                                     return split;
                                   }};
    words given{"train",
                "--model",
                "distance",
                "--data",
                "numbers",
                "--batch",
                "5",
                "--workers",
                "1",
                "--algorithm",
                "all-reduce-sgd",
                "--optimiser",
                "sgd",
                "--lr",
                "0.5",
                "--out",
                (folder_ / std::to_string(runs_++)).string()};
    given.insert(given.end(), more.begin(), more.end());
    return run_embedded(given, {.own = {.models = {&model, 1}, .data = {&data, 1}},
                                .on_folder = [this](const std::filesystem::path& f) { told_ = f; }});
  }

  std::filesystem::path folder_, told_;
  std::function<void()> noted_ = [] {};
  int runs_ = 0;
};

TEST_F(embedded, trains_with_a_model_and_data_of_the_program) {
  EXPECT_EQ(run({"--steps", "40"}), 0);
  EXPECT_EQ(told_, folder_ / "0");
  std::ifstream summary{told_ / "summary.json"};
  const std::string text{std::istreambuf_iterator<char>{summary}, {}};
  EXPECT_THAT(text, HasSubstr("\"test_loss\": 2.0")); // the mean of 0 to 4
}

TEST_F(embedded, throws_what_the_command_prints) {
  EXPECT_THAT(usage_error([&] { run({"--lr", "much"}); }), HasSubstr("--lr is 'much', which is not a number"));
  EXPECT_THAT(usage_error([&] { run({"--colour", "red"}); }), HasSubstr("--colour"));
  EXPECT_THAT(usage_error([&] { run_embedded({"launch"}); }), HasSubstr("'launch' does not run inside a program"));
  EXPECT_THAT(usage_error([&] { run_embedded({}); }), HasSubstr("allowed: train, simulate"));
  EXPECT_THAT(usage_error([&] { run_embedded({"simulate", "--seeds=1..3"}); }), HasSubstr("starts processes"));
}

TEST_F(embedded, takes_no_part_of_the_program_that_is_not_complete) {
  const compute::model_entry unmade{.about = {.name = "unmade"}, .make = nullptr};
  EXPECT_THAT(usage_error([&] {
                run_embedded({"list", "models"}, {.own = {.models = {&unmade, 1}}});
              }),
              HasSubstr("model 'unmade' has no function `make`"));
}

TEST_F(embedded, stops_when_it_is_asked) {
  std::atomic<int> gradients = 0;
  noted_ = [&] {
    if (++gradients == 10)
      stop_embedded();
  };
  EXPECT_EQ(run({"--steps", "1000000000"}), 128 + SIGINT);
  noted_ = [] {};
  EXPECT_EQ(run({"--steps", "3"}), 0); // the wish was for the run before
}

TEST_F(embedded, runs_one_command_at_a_time) {
  std::string refusal;
  noted_ = [&] {
    if (refusal.empty())
      refusal = usage_error([] { run_embedded({"list", "codecs"}); });
  };
  run({"--steps", "3"});
  EXPECT_THAT(refusal, HasSubstr("a run is under way in this process"));
}

TEST_F(embedded, leaves_signals_to_the_program) {
  std::signal(SIGTERM, SIG_IGN);
  noted_ = [] { std::raise(SIGTERM); };
  EXPECT_EQ(run({"--steps", "3"}), 0);
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
}

} // namespace
} // namespace gossamer::apps
