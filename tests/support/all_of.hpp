#pragma once

#include <variant>
#include <vector>

namespace gossamer::testing_support {

/// Returns the orders of one type among those that a protocol has given.
template <class Order, class Orders>
std::vector<Order> all_of(const Orders& orders) {
  std::vector<Order> result;
  for (const auto& o : orders)
    if (const auto* found = std::get_if<Order>(&o))
      result.push_back(*found);
  return result;
}

} // namespace gossamer::testing_support
