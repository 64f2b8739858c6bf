// The laws that the built-in codecs and topologies keep, for those of own_parts.hpp.
#include "gossamer/testing/codec_laws.hpp"
#include "gossamer/testing/topology_laws.hpp"

#include <array>

#include "own_parts.hpp"

// snippet laws begin
namespace gossamer {

const std::span own_codecs{&own::codec, 1};
const auto all_codecs = joined(compress::codecs(), own_codecs);

namespace compress {
INSTANTIATE_TEST_SUITE_P(own, codec_law, testing::ValuesIn(codec_cases(own_codecs, {"codec", all_codecs})), name_of);
}

TEST(racks, keep_the_laws_of_topologies) {
  const std::array own_topologies{own::topology_of_racks};
  for (const auto* spec : {"racks", "racks:of=1", "racks:of=100"})
    for (const std::size_t size : {1u, 2u, 5u, 33u}) {
      SCOPED_TRACE(spec);
      topology::expect_topology_laws(topology::make_topology(spec, size, 1, {"topology", own_topologies}));
    }
}

} // namespace gossamer
// snippet laws end
