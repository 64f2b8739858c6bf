#include "gossamer/base/error.hpp"
#include "gossamer/compute/model_file.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "support/scratch_folder.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns three samples of two features.
dataset rows(std::size_t classes) {
  return {.samples = 3,
          .features = 2,
          .classes = classes,
          .dense = {1, 2, 3, 4, 5, 6},
          .targets = {0, 1, 1},
          .class_names = std::vector<std::string>(classes, "x")};
}

std::vector<float> numbered(const model& m) {
  std::vector<float> x(m.dimension());
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

struct model_on_disk {
  std::unique_ptr<model> m;
  test::scratch_folder folder = {};
  std::string path = folder.path() + "/model.npz";

  std::vector<float> read() const {
    std::vector<float> x(m->dimension());
    read_model(path, *m, x);
    return x;
  }
  std::string error_with(const std::vector<named_tensor>& tensors, errc code = errc::usage) const {
    write_npz(path, tensors);
    try {
      read();
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    return "no error";
  }
};

TEST(model_file, has_an_array_for_each_tensor) {
  const auto listed = [](const std::string& text, std::size_t classes) {
    const model_on_disk file{make_model(text, rows(classes))};
    write_model(file.path, *file.m, numbered(*file.m));
    std::vector<std::pair<std::string, std::vector<std::size_t>>> result;
    for (const auto& t : read_npz(file.path))
      result.emplace_back(t.name, t.shape);
    return result;
  };
  using testing::Pair;
  EXPECT_THAT(listed("mlp:hidden=1", 3),
              ElementsAre(Pair("layer0.weight", ElementsAre(2, 1)), Pair("layer0.bias", ElementsAre(1)),
                          Pair("layer1.weight", ElementsAre(1, 3)), Pair("layer1.bias", ElementsAre(3))));
  EXPECT_THAT(listed("softmax", 3), ElementsAre(Pair("weight", ElementsAre(2, 3)), Pair("bias", ElementsAre(3))));
  EXPECT_THAT(listed("quadratic", 2), ElementsAre(Pair("tensor0", ElementsAre(2))));
}

TEST(model_file, may_list_arrays_in_any_order_and_vectors_in_any_shape) {
  const model_on_disk file{make_model("softmax", rows(3))};
  const large_vector<float> weight{1, 2, 3, 4, 5, 6}, bias{7, 8, 9};
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{3}, {1, 3}, {3, 1}}) {
    write_npz(file.path, std::vector<named_tensor>{{"bias", shape, bias}, {"weight", {2, 3}, weight}});
    EXPECT_THAT(file.read(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

TEST(model_file, says_what_does_not_fit_the_model) {
  const model_on_disk file{make_model("softmax", rows(3))};
  const named_tensor weight{"weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, bias{"bias", {3}, {7, 8, 9}};
  EXPECT_THAT(file.error_with({weight}), AllOf(HasSubstr("model.npz' has no array 'bias' (3,)"),
                                               HasSubstr("the model has weight (2, 3), bias (3,)")));
  EXPECT_THAT(file.error_with({weight, bias, {"arr_0", {1}, {1}}}),
              HasSubstr("has an array 'arr_0', which the model does not have"));
  EXPECT_THAT(
      file.error_with({bias, {"weight", {3, 2}, weight.values}}),
      AllOf(HasSubstr("has 'weight' of shape (3, 2), where the model has (2, 3)"), HasSubstr("(inputs, outputs)")));
  EXPECT_THAT(file.error_with({{"weight", {6}, weight.values}, bias}), HasSubstr("of shape (6,)"));
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THAT(file.error_with({weight, {"bias", {3}, {7, wrong, 9}}}, errc::bad_data),
                HasSubstr("as element 1 of 'bias'"));
}

} // namespace
} // namespace gossamer::compute
