// Any text is refused as a fault plan, or is an equal plan when it is written and read again.
#include "gossamer/actors/faults/plan.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  fuzz::accepts({errc::usage}, [&] {
    const auto plan = actors::parse_plan(fuzz::text_of(data, size), "plan.toml");
    GOSSAMER_ASSERT(actors::parse_plan(actors::to_toml(plan), "again.toml") == plan, "plans survive being written");
    fuzz::accepts({errc::usage}, [&] { actors::check(plan, 8, 2); });
  });
  return 0;
}
