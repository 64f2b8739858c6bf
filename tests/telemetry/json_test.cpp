#include "gossamer/actors/telemetry/json.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(a_line_of_a_run, is_read_as_it_was_written) {
  progress_record p{.epoch = 2.5, .planned_epochs = 30, .loss = 0.25, .accuracy = 0.5, .time_s = 4};
  p.averagings_per_step = 0.75;
  p.nodes = 4;
  p.nodes_lost = 1;
  EXPECT_EQ(to_line(progress_from_json(to_line(p))), to_line(p));

  const view_record v{.time_s = 1, .number = 3, .leader = 2, .members = {0, 2}, .masters = {4}};
  EXPECT_EQ(to_line(view_from_json(to_line(v))), to_line(v));

  const workers_record w{.time_s = 1, .of = {{10, 20, 30}, {0, 0, std::numeric_limits<std::uint64_t>::max()}}};
  EXPECT_EQ(to_line(workers_from_json(to_line(w))), to_line(w));
  const workers_record on_islands{.has_islands = true, .of = {{10, 20, 30, 5}, {10, 20, 30, 15}}};
  EXPECT_EQ(workers_from_json(to_line(on_islands)).of.back().payload_bits_between_islands, 15u);
  EXPECT_EQ(to_line(workers_from_json(to_line(on_islands))), to_line(on_islands));

  const evaluation_record e{.payload_bits = 20, .payload_bits_between_islands = 15};
  EXPECT_EQ(evaluation_from_json(to_json(e)).payload_bits_between_islands, 15u);
  EXPECT_EQ(evaluation_from_json(to_json(evaluation_record{})).payload_bits_between_islands, std::nullopt);
}

TEST(a_line_of_a_run, may_lack_numbers) {
  const auto p = progress_from_json(
      to_line(progress_record{.planned_epochs = std::numeric_limits<double>::infinity(), .loss = NAN}));
  EXPECT_TRUE(std::isnan(p.planned_epochs));
  EXPECT_TRUE(std::isnan(p.loss));
  EXPECT_FALSE(p.accuracy);
  EXPECT_FALSE(p.averagings_per_step);
}

TEST(a_line_of_a_run, leaves_out_what_nobody_reads_back) {
  const view_record v{.members = {0, 1}, .nodes = {0, 0}, .edges = {{0, 1}}};
  EXPECT_THAT(view_from_json(to_line(v)).members, ElementsAre(0, 1));
  EXPECT_THAT(view_from_json(to_line(v)).edges, IsEmpty());
}

TEST(a_line_of_a_run, is_refused_when_it_is_damaged) {
  for (const auto* line : {"", "[]", "{}", R"({"time_s":1,"steps":[1],"payload_bits":[],"wire_bits":[]})",
                           R"({"time_s":1,"steps":[-1],"payload_bits":[1],"wire_bits":[1]})",
                           R"({"time_s":1,"steps":[1],"payload_bits":[1],"wire_bits":[1],)"
                           R"("payload_bits_between_islands":[]})"})
    EXPECT_THROW(workers_from_json(line), error) << line;
  EXPECT_THROW(view_from_json(R"({"time_s":1,"number":1,"leader":0,"members":[4294967296],"masters":[]})"), error);
  EXPECT_THROW(progress_from_json(R"({"time_s":"soon"})"), error);
}

} // namespace
} // namespace gossamer::actors
