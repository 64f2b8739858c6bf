#pragma once

#include "gossamer/base/error.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

#include "support/scratch_folder.hpp"

namespace gossamer::fuzz {

using test::scratch_folder;

/// Returns the input of a target as text.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Runs an action that reads the input. An error with one of these codes properly refuses the input. Any other
/// exception ends the process.
/// @returns true if the input was accepted
template <class Action>
bool accepts(std::initializer_list<errc> refusals, Action action) {
  try {
    action();
    return true;
  } catch (const error& e) {
    if (std::ranges::find(refusals, e.code()) == refusals.end())
      throw;
    GOSSAMER_ASSERT(!e.sentence().empty(), "a refusal says what was wrong");
    return false;
  }
}

} // namespace gossamer::fuzz
