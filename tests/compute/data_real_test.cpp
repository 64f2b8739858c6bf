// The real data sets, as their publishers describe them.
#include <cmath>

#include "data_support.hpp"
#include "support/data_folder.hpp"

namespace gossamer::compute {
namespace {

using testing::ElementsAre;

std::vector<std::size_t> class_counts(const dataset& data) {
  std::vector<std::size_t> counts(data.classes);
  for (std::size_t i = 0; i < data.samples; ++i)
    ++counts.at(data.label(i));
  return counts;
}

TEST(real_data, mnist_has_its_published_sizes) {
  const auto folder = data_folder();
  GOSSAMER_NEEDS_DATA(folder);
  const auto split = load_data("idx:dir=" + (*folder / "mnist").string(), 1);
  EXPECT_THAT(class_counts(split.train), ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  EXPECT_THAT(class_counts(split.test), ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
  EXPECT_EQ(split.train.features, 784u);
  double sum = 0;
  for (const float pixel : dense_values(split.test))
    sum += pixel;
  EXPECT_NEAR(255 * sum / double(split.test.samples * split.test.features), 33.791, 0.001);
}

TEST(real_data, a9a_has_its_published_sizes) {
  const auto folder = data_folder();
  GOSSAMER_NEEDS_DATA(folder);
  const auto libsvm = (*folder / "libsvm").string();
  const auto split = load_data("libsvm:train=" + libsvm + "/a9a.gz,test=" + libsvm + "/a9a.t.gz", 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.samples, 32'561u);
  EXPECT_EQ(split.test.samples, 16'281u);
  EXPECT_EQ(split.train.features, 123u);
  EXPECT_EQ(split.train.columns.size(), 451'592u);
  EXPECT_THAT(split.train.class_names, ElementsAre("-1", "+1"));
}

TEST(real_data, california_housing_is_a_regression) {
  const auto folder = data_folder();
  GOSSAMER_NEEDS_DATA(folder);
  const auto split = load_data("csv:train=" + (*folder / "csv" / "cal_housing.csv.gz").string(), 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.samples + split.test.samples, 20'640u);
  EXPECT_EQ(split.test.samples, 4128u);
  EXPECT_EQ(split.train.features, 8u);
  EXPECT_EQ(split.train.classes, 0u);
  for (std::size_t column = 0; column < 8; ++column) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < split.train.samples; ++i) {
      const double x = dense_row(split.train, i)[column];
      sum += x;
      squares += x * x;
    }
    EXPECT_NEAR(sum / double(split.train.samples), 0, 1e-5);
    EXPECT_NEAR(squares / double(split.train.samples), 1, 1e-5);
  }
}

TEST(real_data, cifar10_has_its_published_counts) {
  const auto folder = data_folder();
  GOSSAMER_NEEDS_DATA(folder);
  const scratch_folder one_batch;
  for (const char* name : {"data_batch_1.bin.gz", "data_batch_2.bin.gz"}) // the second stands in for the test part
    std::filesystem::create_symlink(*folder / "cifar10" / name,
                                    one_batch.path() + (name[11] == '1' ? "/data_batch_1.bin" : "/test_batch.bin"));
  const auto split = load_data("cifar10:dir=" + one_batch.path(), 1);
  EXPECT_THAT(class_counts(split.train), ElementsAre(1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981));
  EXPECT_THAT(class_counts(split.test), ElementsAre(984, 1007, 1010, 995, 1010, 988, 1008, 1026, 987, 985));
  EXPECT_EQ(split.train.features, 3072u);
  double sum = 0;
  for (const float pixel : dense_values(split.train))
    sum += pixel;
  EXPECT_NEAR(sum / double(split.train.samples * split.train.features), 0, 1e-4);
}

} // namespace
} // namespace gossamer::compute
