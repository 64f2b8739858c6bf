// Any text is refused, or is a spec that is the same when it is written and read again. Every table that looks it up
// refuses its parameters or fills them in.
#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/compress/codec.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/model.hpp"
#include "gossamer/compute/optimiser.hpp"
#include "gossamer/compute/partition.hpp"
#include "gossamer/compute/schedule.hpp"
#include "gossamer/topology/graph.hpp"

#include "fuzz/target.hpp"

namespace gossamer {
namespace {

template <class Entry>
void look_up(const registry<Entry>& table, const spec& given) {
  fuzz::accepts({errc::usage}, [&] {
    const auto full = table.resolve(given).second.resolved();
    GOSSAMER_ASSERT(table.resolve(full.to_string()).second.resolved().to_string() == full.to_string(),
                    "a full spec stands for itself");
  });
}

} // namespace
} // namespace gossamer

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  fuzz::accepts({errc::usage}, [&] {
    const auto given = spec::parse(fuzz::text_of(data, size));
    const auto text = given.to_string();
    GOSSAMER_ASSERT(spec::parse(text).to_string() == text, "a spec has one written form");
    look_up(topology::topologies(), given);
    look_up(compress::codecs(), given);
    look_up(compute::models(), given);
    look_up(compute::data_sources(), given);
    look_up(compute::optimisers(), given);
    look_up(compute::partitions(), given);
    look_up(compute::schedules(), given);
    look_up(actors::algorithms(), given);
  });
  return 0;
}
