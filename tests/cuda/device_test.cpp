// Queries about GPUs, with or without a GPU, and with or without the CUDA toolkit.
#include "gossamer/base/cuda/device.hpp"
#include "gossamer/base/cuda/stream.hpp"

#include <gmock/gmock.h>

#include "support/usage_error.hpp"

namespace gossamer::cuda {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  return usage_error([&] { parse_devices(text); });
}

TEST(devices, are_read_from_text) {
  EXPECT_THAT(parse_devices("cpu"), testing::ElementsAre(device{}));
  EXPECT_EQ(device{}.to_string(), "cpu");
  EXPECT_EQ(device{3}.to_string(), "cuda:3");
  EXPECT_EQ(device{3}.gpu(), 3);
  EXPECT_FALSE(device{}.on_gpu());
}

TEST(devices, that_are_none_are_refused_with_what_is_allowed) {
  EXPECT_EQ(refusal_of("gpu"), "unknown device 'gpu'; allowed: cpu, cuda:NUMBER and cuda:all, joined by +");
  EXPECT_THAT(refusal_of("cuda:"), HasSubstr("device 'cuda:' has no number"));
  EXPECT_THAT(refusal_of("cuda:-1"), HasSubstr("device 'cuda:-1' has no number"));
  EXPECT_THAT(refusal_of("cuda:99999999999"), HasSubstr("has no number"));
  EXPECT_THAT(refusal_of("cpu+cpu"), HasSubstr("device 'cpu' is named twice in 'cpu+cpu'"));
  EXPECT_THAT(refusal_of(""), HasSubstr("unknown device ''"));
}

TEST(devices, are_all_there_or_all_refused_for_one_reason) {
  const auto reason = why_no_gpu();
  if (reason.empty()) {
    const auto all = parse_devices("cuda:all");
    EXPECT_EQ(all.size(), gpus().size());
    EXPECT_EQ(all.front(), device{0});
    EXPECT_THAT(refusal_of("cuda:9999"), HasSubstr("there is no device 'cuda:9999'; this machine has cuda:0"));
    return;
  }
  EXPECT_THAT(refusal_of("cuda:0"), HasSubstr(reason));
  EXPECT_THAT(refusal_of("cuda:all"), HasSubstr("use cpu"));
  EXPECT_THAT(usage_error([] { stream{0}; }), HasSubstr(reason));
}

} // namespace
} // namespace gossamer::cuda
