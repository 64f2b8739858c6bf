#pragma once

#include "gossamer/base/cuda/device.hpp"

#include <gtest/gtest.h>

namespace gossamer::test {

/// Skips its cases, with the reason, on a machine without a GPU.
template <class Parameter>
class gpu_test : public testing::TestWithParam<Parameter> {
protected:
  void SetUp() override {
    if (const auto reason = cuda::why_no_gpu(); !reason.empty())
      GTEST_SKIP() << "needs a GPU: " << reason;
  }
};

} // namespace gossamer::test
