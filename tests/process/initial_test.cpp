// --initial: where training starts.
#include "gossamer/compute/npz.hpp"

#include <algorithm>
#include <cmath>

#include "command.hpp"

namespace gossamer {
namespace {

using compute::named_tensor;
using testing::AllOf;
using testing::DoubleNear;
using testing::HasSubstr;

class initial_model : public command {
protected:
  void SetUp() override {
    command::SetUp();
    std::string rows;
    for (int k = 0; k < 60; ++k)
      rows += std::to_string(k % 7) + "," + std::to_string(k % 5) + "," + std::to_string(k % 2) + "\n";
    for (const auto* folder : {"", "here/", "there/"})
      write(folder + std::string{"rows.csv"}, rows);
  }

  /// Writes a model of two features and two classes that scores class 1 higher by `score`.
  std::string write_model(const std::string& name, float score) const {
    write(name, ""); // makes its folder
    compute::write_npz((folder_ / name).string(),
                       std::vector<named_tensor>{{"bias", {1, 2}, {0, score}}, {"weight", {2, 2}, {0, 0, 0, 0}}});
    return name;
  }

  static inline const words job{"--model",     "softmax", "--data",  "csv:train=rows.csv,test=rows.csv",
                                "--algorithm", "d-psgd",  "--steps", "2",
                                "--workers",   "2",       "--batch", "4"};
  support::outcome start(const std::string& how, const std::string& file) const {
    return run(words{how} + job + words{"--out", "run", "--overwrite", "--initial", file});
  }
  double first_loss() const { return metrics().front()["train_loss"]; }
  static double loss_of(double score) { return (std::log1p(std::exp(score)) + std::log1p(std::exp(-score))) / 2; }
};

TEST_F(initial_model, is_where_training_starts) {
  write_model("start.npz", 1);
  for (const auto* how : {"train", "simulate"}) {
    const auto ended = start(how, "start.npz");
    ASSERT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(first_loss(), DoubleNear(loss_of(1), 1e-5)) << how;
    EXPECT_THAT(read("run/config.toml"), HasSubstr("initial = 'start.npz'"));
  }
  const auto first = first_loss();
  EXPECT_EQ(run({"simulate", "--config", "run/config.toml", "--out", "run", "--overwrite"}).status, 0);
  EXPECT_EQ(first_loss(), first) << "the configuration names it";
}

TEST_F(initial_model, is_refused_in_one_line_when_it_cannot_be_used) {
  const auto expect_refused = [&](const std::string& file, int status, const std::string& said) {
    const auto ended = start("train", file);
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(ended.err, AllOf(testing::StartsWith("gossamer: "), HasSubstr(said)));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_FALSE(exists("run"));
  };
  expect_refused("none.npz", 1, "cannot read 'none.npz': No such file");
  expect_refused("rows.csv", 1, "'rows.csv': it is no .npz file");
  compute::write_npz((folder_ / "other.npz").string(), std::vector<named_tensor>{{"weight", {4}, {1, 2, 3, 4}}});
  expect_refused("other.npz", 2, "has 'weight' of shape (4,), where the model has (2, 2)");
}

TEST_F(initial_model, is_found_where_each_host_keeps_its_data) {
  write("hosts.toml", "[[host]]\ndata_dir = 'here'\n\n[[host]]\ndata_dir = 'there'\n");
  const auto launch = [&] {
    return run(words{"launch", "--hosts", "hosts.toml", "--", "train"} + job
               + words{"--out", "run", "--overwrite", "--initial", "start.npz"});
  };
  write_model("here/start.npz", 1);
  write_model("there/start.npz", 1);
  const auto alike = launch();
  ASSERT_EQ(alike.status, 0) << alike.err;
  EXPECT_THAT(first_loss(), DoubleNear(loss_of(1), 1e-5));
  write_model("there/start.npz", 2);
  const auto different = launch();
  EXPECT_EQ(different.status, 1);
  EXPECT_THAT(different.err, HasSubstr("the initial model is another one here"));
}

} // namespace
} // namespace gossamer
