// Samples in arrays of NumPy, and the bytes of a text.
#include "gossamer/compute/npz.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "data_support.hpp"
#include "support/environment.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class npz_data : public testing::Test {
protected:
  std::string save(const std::vector<named_tensor>& arrays) const {
    write_npz(folder_.path() + "/a.npz", arrays);
    return "npz:file=" + folder_.path() + "/a.npz";
  }
  std::string error_with(const std::vector<named_tensor>& arrays, const std::string& more = {}) const {
    return load_error(errc::bad_data, save(arrays) + more);
  }

  static large_vector<float> numbers(std::size_t count) {
    large_vector<float> result(count);
    for (std::size_t i = 0; i < count; ++i)
      result[i] = static_cast<float>(i);
    return result;
  }

  const named_tensor x_{"X", {4, 2, 3}, numbers(24)}, y_{"y", {4}, {0, 2, 1, 0}};
  scratch_folder folder_;
};

TEST_F(npz_data, takes_pictures_of_one_channel_and_a_test_part) {
  const auto split = load_data(save({x_, y_, {"X_test", {1, 2, 3}, numbers(6)}, {"y_test", {1}, {2}}}), 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.samples, 4u);
  EXPECT_EQ(split.train.classes, 3u);
  EXPECT_THAT(split.train.shape, ElementsAre(1, 2, 3));
  EXPECT_THAT(dense_row(split.train, 1), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(split.train.targets, ElementsAre(0, 2, 1, 0));
  EXPECT_THAT(split.test.targets, ElementsAre(2));
}

TEST_F(npz_data, holds_samples_out_where_there_is_no_test_part) {
  const auto split = load_data(save({x_, y_}) + ",holdout=0.25", 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.samples, 3u);
  EXPECT_EQ(split.test.samples, 1u);
  EXPECT_THAT(split.test.shape, ElementsAre(1, 2, 3));
}

TEST_F(npz_data, takes_amounts_as_real_targets) {
  EXPECT_EQ(load_data(save({x_, {"y", {4}, {0, 2.5f, 1, 0}}}), 1).train.classes, 0u);
  EXPECT_EQ(load_data(save({x_, y_}) + ",task=regression", 1).train.classes, 0u);
}

TEST_F(npz_data, are_alike_wherever_they_lie) {
  const auto with_test_part = save({x_, y_, {"X_test", {1, 2, 3}, numbers(6)}, {"y_test", {1}, {2}}});
  const auto compare = [](const std::string& spec) {
    const auto mapped = load_data(spec + ",mapped=yes", 1), in_memory = load_data(spec + ",mapped=no", 1);
    expect_alike(mapped, in_memory);
    expect_alike(load_data(spec, 1), in_memory);
    EXPECT_EQ(mapped.train.dense.get_allocator().most_in_memory(), 0u);
    EXPECT_EQ(mapped.test.dense.get_allocator().most_in_memory(), 0u);
    EXPECT_EQ(in_memory.train.dense.get_allocator().most_in_memory(), UINT64_MAX);
  };
  compare(with_test_part);
  compare(save({x_, y_}));
}

TEST_F(npz_data, hand_their_block_to_samplers) {
  EXPECT_EQ(load_data(save({x_, y_}), 1).train.shuffled_block, 0u);
  EXPECT_EQ(load_data(save({x_, y_}) + ",block=1000", 1).train.shuffled_block, 1000u);
  EXPECT_THAT(load_error(errc::usage, save({x_, y_}) + ",block=-1"), HasSubstr("block"));
}

TEST_F(npz_data, say_when_there_is_no_folder_to_map_them_from) {
  const test::environment_variable elsewhere{"TMPDIR", folder_.path() + "/none"};
  EXPECT_THAT(load_error(errc::io, save({x_, y_}) + ",mapped=yes"),
              AllOf(HasSubstr(folder_.path() + "/none': No such file"), HasSubstr("TMPDIR")));
}

TEST_F(npz_data, says_what_does_not_fit) {
  EXPECT_THAT(error_with({x_}), AllOf(HasSubstr("a.npz' has no array 'y'"), HasSubstr("numpy.savez(FILE, X=")));
  EXPECT_THAT(error_with({x_, {"y", {3}, {0, 1, 2}}}), HasSubstr("has 4 samples in 'X' and 3 targets in 'y'"));
  EXPECT_THAT(error_with({x_, {"y", {4, 2}, numbers(8)}}),
              HasSubstr("has 2 targets for each sample in 'y', and a sample has one; save one column of it"));
  EXPECT_THAT(error_with({{"X", {4}, numbers(4)}, y_}), HasSubstr("has 'X' of 1 dimensions"));
  EXPECT_THAT(error_with({x_, {"y", {4}, {0, NAN, 1, 0}}}), HasSubstr("has nan as element 1 of 'y'"));
  EXPECT_THAT(error_with({x_, {"y", {4}, {0, 0, 0, 0}}}), HasSubstr("has a single class"));
  EXPECT_THAT(error_with({x_, {"y", {4}, {0, 0.5f, 0, 0}}}, ",task=classification"), HasSubstr("no whole numbers"));
  EXPECT_THAT(error_with({x_, y_, {"X_test", {1, 2, 3}, numbers(6)}}), HasSubstr("has no array 'y_test'"));
  EXPECT_THAT(error_with({x_, y_, {"X_test", {1, 5}, numbers(5)}, {"y_test", {1}, {2}}}),
              HasSubstr("samples of 6 features in 'X' and of 5 in 'X_test'"));
  EXPECT_THAT(error_with({x_, y_, {"X_test", {1, 2, 3}, numbers(6)}, {"y_test", {1}, {7}}}),
              HasSubstr("has label 7 in 'y_test', which is not in 'y'"));
}

TEST_F(npz_data, take_labels_for_classes_by_the_training_part) {
  const auto with = [&](const named_tensor& y, float last) {
    return std::vector<named_tensor>{x_, y, {"X_test", {2, 2, 3}, numbers(12)}, {"y_test", {2}, {1, last}}};
  };
  for (const std::string odd : {"0.5", "-1", "3", "70000"})
    for (const char* task : {"", ",task=classification"})
      EXPECT_THAT(error_with(with(y_, std::stof(odd)), task),
                  AllOf(HasSubstr("has label " + odd + " in 'y_test', which is not in 'y'"),
                        HasSubstr("element 1 must be a whole number from 0 to 2; task=regression")));
  const auto amounts = load_data(save(with(y_, 0.5f)) + ",task=regression", 1);
  EXPECT_EQ(amounts.train.classes, 0u);
  EXPECT_THAT(amounts.test.targets, ElementsAre(1, 0.5f));
  EXPECT_EQ(load_data(save(with({"y", {4}, {0, 0.5f, 1, 0}}, 0)), 1).train.classes, 0u);
}

TEST(text_data, is_cut_into_bytes_that_are_followed_by_the_next) {
  const scratch_folder folder;
  const auto file = folder.write("t.txt", "abcdefgHIJ");
  const auto split = load_data("text:file=" + file + ",context=2,holdout=0.3", 1);
  EXPECT_TRUE(split.train.is_text);
  EXPECT_EQ(split.train.classes, 256u);
  EXPECT_EQ(split.train.samples, 3u);
  EXPECT_THAT(dense_values(split.train), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  EXPECT_THAT(split.train.targets, ElementsAre('c', 'e', 'g'));
  EXPECT_THAT(dense_values(split.test), ElementsAre('H', 'I'));
  EXPECT_THAT(split.test.targets, ElementsAre('J'));
}

TEST(text_data, says_when_a_text_is_too_short) {
  const scratch_folder folder;
  const auto file = folder.write("t.txt", "abc");
  EXPECT_THAT(load_error(errc::bad_data, "text:file=" + file + ",context=2"),
              HasSubstr("of 3 bytes 0 are for tests, and a sample has 2 and the next"));
}

} // namespace
} // namespace gossamer::compute
