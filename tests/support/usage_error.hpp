#pragma once

#include "gossamer/base/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gossamer {

/// Returns the message of the usage error that `action` must throw.
template <class Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const error& e) {
    EXPECT_EQ(e.exit_status(), 2);
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

} // namespace gossamer
