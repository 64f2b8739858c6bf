// The promises of every codec, for all codecs and several values of each of their parameters. A new codec is covered as
// soon as it stands in the registry.
#include "gossamer/testing/codec_laws.hpp"

#include <gmock/gmock.h>

#include <array>

#include "support/usage_error.hpp"

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

// -- a codec of a program, with a parameter without a default and a range below six decimals --------------------------

codec_entry sparse_codec() {
  auto result = codecs().find("random-p");
  result.about.name = "own-sparse";
  auto& p = result.about.parameters.front();
  p.fallback = {};
  p.required = true;
  p.min = 1e-7;
  result.examples = {"own-sparse:p=0.25", "own-sparse:p=0.25,indices=seed"};
  return result;
}

const std::array own_codecs{sparse_codec()};

INSTANTIATE_TEST_SUITE_P(own, codec_law, testing::ValuesIn(codec_cases(own_codecs, {"codec", own_codecs})), name_of);

TEST(cases_of_codecs, are_of_complete_entries) {
  auto entry = sparse_codec();
  entry.decode = nullptr;
  EXPECT_THAT(usage_error([&] {
                codec_cases({&entry, 1}, {"codec", {&entry, 1}});
              }),
              testing::HasSubstr("codec 'own-sparse' has no function `decode`"));
}

TEST(specs_of_codecs, move_the_parameters_of_the_examples_where_one_has_no_default) {
  const auto specs = specs_of(own_codecs.front());
  EXPECT_FALSE(specs.contains("own-sparse"));
  for (const auto* spec : {"own-sparse:p=0.25", "own-sparse:p=0.25,indices=seed", "own-sparse:p=0.25,scale=none",
                           "own-sparse:p=1e-07", "own-sparse:indices=seed,p=1"})
    EXPECT_TRUE(specs.contains(spec)) << spec;
}

TEST(specs_of_codecs, give_the_ends_of_ranges_to_the_last_digit) {
  using enum parameter::type;
  EXPECT_EQ(values_to_try({.key = "p", .kind = real, .fallback = "0.5", .min = 1e-7, .max = 0.1 + 0.2}),
            (std::set<std::string>{"0.5", "1e-07", "0.30000000000000004"}));
  EXPECT_EQ(values_to_try({.key = "k", .kind = integer, .fallback = "1", .min = -3, .max = 1e17}),
            (std::set<std::string>{"1", "-3", "100000000000000000"}));
}

} // namespace
} // namespace gossamer::compress
