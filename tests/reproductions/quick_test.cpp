#include "gossamer/apps/reproductions/detail/reproduction.hpp"

#include <algorithm>

#include "process/command.hpp"

namespace gossamer {
namespace {

using testing::HasSubstr;

class quick_reproduction : public command, public testing::WithParamInterface<apps::reproduction_entry> {};

TEST_P(quick_reproduction, brings_back_what_must_come_back) {
  const auto& name = GetParam().name;
  const words reproduce{"reproduce", name, "--quick", "--jobs", "1", "--out", "found"};
  const auto ended =
      support::subprocess(words{"env", "-C", folder_.string()} + gossamer(reproduce)).finish(std::chrono::minutes{10});
  EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("## " + name));
  EXPECT_EQ(read("found/" + name + ".md").find("**no**"), std::string::npos);
  EXPECT_THAT(read("found/" + name + ".csv"), HasSubstr("method,setting,rate,measure,seed,value"));
  EXPECT_THAT(read("found/" + name + ".svg"), HasSubstr("</svg>"));
}

std::string test_name(const testing::TestParamInfo<apps::reproduction_entry>& info) {
  auto name = info.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, quick_reproduction, testing::ValuesIn(apps::reproductions()), test_name);

} // namespace
} // namespace gossamer
