#pragma once

#include "gossamer/base/marks.hpp"
#include "gossamer/testing/effort.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gossamer::testing_support {

/// Fails at the end of a test program that has run all of its tests, with the usual number of tries, and has not passed
/// one of these marks.
class passes_marks final : public testing::Environment {
public:
  explicit passes_marks(std::vector<mark> expected) : expected_(std::move(expected)) {}

  void TearDown() override {
    const auto& all = *testing::UnitTest::GetInstance();
    const bool one_shard = all.test_to_run_count() < all.total_test_count(); // or a filter
    if (one_shard || !test::tries_all())
      return;
    for (const auto m : expected_)
      EXPECT_GT(passes(m), 0u) << "no test takes the path of mark " << static_cast<int>(m)
                               << " (base/marks.hpp) any more";
  }

private:
  std::vector<mark> expected_;
};

} // namespace gossamer::testing_support
