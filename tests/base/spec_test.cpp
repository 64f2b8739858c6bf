#include "gossamer/base/registry.hpp"

#include <gmock/gmock.h>

#include <array>

#include "support/usage_error.hpp"

namespace gossamer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const description example{
    .name = "example",
    .summary = {},
    .maths = {},
    .reference = {},
    .cost = {},
    .parameters = {
        {.key = "bits", .kind = parameter::type::integer, .fallback = "8", .meaning = "width", .min = 1, .max = 16},
        {.key = "alpha", .kind = parameter::type::real, .fallback = "0.5", .meaning = "share", .min = 0, .max = 1},
        {.key = "hidden", .kind = parameter::type::integers, .fallback = "", .meaning = "layers", .min = 1, .max = 100},
        {.key = "norm", .kind = parameter::type::choice, .fallback = "l2", .meaning = "norm", .choices = {"l2", "max"}},
    }};

arguments parse(std::string_view text) { return {"codec", example, spec::parse(text)}; }

TEST(spec, reads_and_writes_the_one_spelling) {
  const auto s = spec::parse("mlp:hidden=100+50,file=/data/a:b");
  EXPECT_EQ(s.name, "mlp");
  EXPECT_THAT(s.values, ElementsAre(Pair("hidden", "100+50"), Pair("file", "/data/a:b")));
  EXPECT_EQ(s.to_string(), "mlp:hidden=100+50,file=/data/a:b");
  EXPECT_EQ(spec::parse("ring").to_string(), "ring");
}

TEST(spec, refuses_what_is_not_a_spec) {
  for (const char* text : {"", ":", "Ring", "a b", "x:", "x:bits", "x:=3", "x:bits=3,bits=4", "x:bits=3,"})
    EXPECT_THAT(usage_error([&] { spec::parse(text); }), HasSubstr("'")) << text;
}

TEST(arguments, fill_in_defaults_and_resolve) {
  const auto a = parse("example:bits=4,hidden=100+50");
  EXPECT_EQ(a.integer("bits"), 4);
  EXPECT_EQ(a.real("alpha"), 0.5);
  EXPECT_THAT(a.integers("hidden"), ElementsAre(100, 50));
  EXPECT_TRUE(a.is("norm", "l2"));
  EXPECT_EQ(a.resolved().to_string(), "example:bits=4,alpha=0.5,hidden=100+50,norm=l2");
  EXPECT_THAT(parse("example").integers("hidden"), ElementsAre());
}

TEST(arguments, say_what_is_wrong_and_what_is_allowed) {
  EXPECT_THAT(usage_error([] { parse("example:bit=3"); }), HasSubstr("did you mean 'bits'?"));
  EXPECT_THAT(usage_error([] { parse("example:bits=17"); }),
              HasSubstr("bits of codec 'example' is 17, which is out of range; allowed: integer in [1, 16]"));
  EXPECT_THAT(usage_error([] { parse("example:bits=3.5"); }), HasSubstr("'3.5', which is not a whole number"));
  EXPECT_THAT(usage_error([] { parse("example:alpha=nan"); }), HasSubstr("not a number"));
  EXPECT_THAT(usage_error([] { parse("example:alpha="); }), HasSubstr("not a number"));
  EXPECT_THAT(usage_error([] { parse("example:hidden=10+0"); }), HasSubstr("holds 0"));
  EXPECT_THAT(usage_error([] { parse("example:norm=l3"); }), HasSubstr("one of l2, max"));
}

struct entry {
  description about;
};

TEST(registry, suggests_the_nearest_name) {
  const std::array entries{entry{{.name = "identity"}}, entry{{.name = "uniform"}}};
  const registry<entry> table{"codec", entries};
  EXPECT_EQ(table.find("uniform").about.name, "uniform");
  EXPECT_THAT(usage_error([&] { table.find("unifrom"); }),
              HasSubstr("unknown codec 'unifrom'; did you mean 'uniform'? known: identity, uniform"));
  EXPECT_THAT(usage_error([&] { table.find("zzzzzz"); }), testing::Not(HasSubstr("did you mean")));
}

} // namespace
} // namespace gossamer
