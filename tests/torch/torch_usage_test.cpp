// The errors that users get for impossible models of LibTorch.
#include "gossamer/compute/model.hpp"

#include <gmock/gmock.h>

#include "support/small_data.hpp"
#include "support/torch_cases.hpp"
#include "support/usage_error.hpp"

namespace gossamer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(std::string_view text, const compute::dataset& data) {
  return usage_error([&] { compute::make_model(text, data); });
}

TEST(torch_models, refuse_data_that_they_cannot_learn) {
  const auto numbers = support::small_data(8, 64, 3), pictures = support::small_pictures(4);
  EXPECT_THAT(refusal("resnet", numbers),
              HasSubstr("model 'resnet' takes pictures, and the data has none; use cifar10"));
  EXPECT_THAT(refusal("cnn", support::small_text(4, 64)), HasSubstr("takes pictures"));
  EXPECT_THAT(refusal("vgg", pictures),
              HasSubstr("at least 32 x 32 pixels, and those of the data have 8 x 8; use cnn"));
  EXPECT_THAT(refusal("cnn", support::small_data(8, 64, 0)), HasSubstr("real targets"));
  EXPECT_THAT(refusal("transformer", pictures), HasSubstr("learns text, and the data is none; use text:file"));
  EXPECT_THAT(refusal("transformer:context=8", support::small_text(4, 6)),
              HasSubstr("samples of the data are 6 bytes long, and context of model 'transformer' is 8"));
}

TEST(torch_models, refuse_shapes_that_cannot_be) {
  EXPECT_THAT(refusal("resnet:depth=21", support::small_pictures(4)), HasSubstr("6 n + 2: 8, 14, 20"));
  const auto text = support::small_text(4, 64);
  EXPECT_THAT(refusal("transformer:width=10,heads=4", text), HasSubstr("width of model 'transformer' is 10"));
}

TEST(torch_models, refuse_to_be_larger_than_memory_before_they_take_it) {
  const auto allowed = HasSubstr("parameters, and 2147483647 are allowed; choose a smaller one");
  EXPECT_THAT(refusal("transformer:width=65536,heads=4,layers=1000", support::small_text(4, 64)),
              AllOf(allowed, HasSubstr("model 'transformer' would have about 5.2e+13 ")));
  const auto pictures = support::small_pictures(4);
  for (const char* text : {"cnn:width=4096,hidden=1000000", "resnet:depth=1202,width=4096"})
    EXPECT_THAT(refusal(text, pictures), allowed) << text;
  auto larger = support::small_data(4, 16 * 16, 2);
  larger.shape = {1, 16, 16};
  EXPECT_THAT(refusal("alexnet:hidden=100000", larger), allowed);
}

TEST(torch_models, are_the_only_ones_that_augment) {
  auto data = support::small_pictures(4);
  data.augmentation.mirror = true;
  EXPECT_THAT(refusal("softmax", data), HasSubstr("model 'softmax' cannot augment the samples of the data"));
}

TEST(torch_models, say_what_to_install_where_there_is_no_libtorch) {
  if (compute::libtorch::is_there())
    GTEST_SKIP() << "LibTorch is there";
  EXPECT_THAT(refusal("cnn", support::small_pictures(4)),
              AllOf(HasSubstr("model 'cnn' needs LibTorch, and th"), HasSubstr("install_dependencies.sh --torch")));
}

} // namespace
} // namespace gossamer::test
