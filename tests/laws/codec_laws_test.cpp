// The promises of every codec, for all codecs and several values of each of their parameters. A new codec is covered as
// soon as it stands in the registry.
#include "gossamer/testing/codec_laws.hpp"

namespace gossamer::compress {
namespace {

/// Specs in which parameters act together, or a value inside a range takes another path.
const std::set<std::string> further_specs{"min-max:bits=4,chunk=10",
                                          "min-max:bits=16,chunk=3",
                                          "min-max:chunk=7,rounding=nearest",
                                          "thresholds:levels=0+1",
                                          "thresholds:levels=0+1e-3+0.5+0.6+0.999+1",
                                          "fixed-grid:step=0.5,bits=20",
                                          "qsgd:levels=3,bucket=7",
                                          "qsgd:levels=3,bucket=7,code=elias-sparse",
                                          "qsgd:levels=3,bucket=7,code=elias-dense,norm=max",
                                          "qsgd:levels=1,code=elias-dense"};

INSTANTIATE_TEST_SUITE_P(registry, codec_law,
                         testing::ValuesIn(codec_cases({codecs().begin(), codecs().end()}, codecs(), further_specs)),
                         name_of);

} // namespace
} // namespace gossamer::compress
