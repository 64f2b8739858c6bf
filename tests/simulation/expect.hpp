#pragma once

#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace gossamer::testing_support {

/// Returns the message of the error that `action` must throw.
template <class Action>
std::string refusal(Action action, errc code = errc::usage) {
  try {
    action();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Expects the mean and the variance of many draws to lie within 4.5 standard errors of the theory's. `fourth` is the
/// fourth central moment. Below 0 it stands for an infinite moment, and the variance is not checked.
template <class Draw>
void expect_moments(Draw draw, double mean, double variance, double fourth) {
  constexpr int count = 100'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = draw(static_cast<std::uint64_t>(i)) - mean;
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 4.5 * std::sqrt(variance / count) + 1e-12);
  if (fourth >= 0) {
    EXPECT_NEAR(squares / count, variance, 4.5 * std::sqrt((fourth - variance * variance) / count) + 1e-12);
  }
}

} // namespace gossamer::testing_support
