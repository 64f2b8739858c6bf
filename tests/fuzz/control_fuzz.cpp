// Honest nodes survive any message of a node that breaks the rules, and of any stranger at a door. Numbers are drawn
// from the input, messages are those of the interfaces.
#include "gossamer/base/error.hpp"

#include <cstring>
#include <span>

#include "actors/control_storm.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer::testing_support;
  std::span<const std::uint8_t> left{data, size};
  const auto draw = [&left] {
    std::uint64_t number = 0;
    const auto bytes = std::min<std::size_t>(left.size(), 2);
    std::memcpy(&number, left.data(), bytes);
    left = left.subspan(bytes);
    return number;
  };
  constexpr const char* algorithms[] = {"d-psgd", "ad-psgd", "parameter-server-sgd"};
  honest_nodes nodes{algorithms[draw() % std::size(algorithms)], draw};
  for (int k = 0; k < 64 && !left.empty(); ++k)
    storm(nodes, draw, 1);
  GOSSAMER_ASSERT(damage_to(nodes).empty(), "nonsense costs its sender");
  return 0;
}
