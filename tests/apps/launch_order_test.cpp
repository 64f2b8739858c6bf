#include "gossamer/apps/detail/launch_page.hpp"

#include <gmock/gmock.h>

#include "support/usage_error.hpp"

namespace gossamer::apps {
namespace {

using testing::HasSubstr;

TEST(launch_order, names_a_node_or_means_the_leader) {
  EXPECT_EQ(std::get<kill_process>(parse_launch_order("kill 2", 4)).node, 2u);
  EXPECT_EQ(std::get<kill_process>(parse_launch_order("kill", 4)).node, std::nullopt);
  const auto stop = std::get<stop_process>(parse_launch_order("stop 3 2.5", 4));
  EXPECT_EQ(stop.node, 3u);
  EXPECT_EQ(stop.seconds, 2.5);
  EXPECT_EQ(std::get<stop_process>(parse_launch_order("stop 1", 4)).node, std::nullopt);
}

TEST(launch_order, refuses_nodes_that_are_not_there) {
  for (const char* text : {"kill 4", "kill -1", "kill x", "stop 4 1", "stop 1 -1", "stop 1 nan"})
    EXPECT_THROW(static_cast<void>(parse_launch_order(text, 4)), error) << text;
}

TEST(launch_order, leaves_the_rest_to_the_leader) {
  for (const char* text : {"heal", "[[fault]]\nkind = \"kill\"", "kill 1 2", ""})
    EXPECT_EQ(std::get<leaders_order>(parse_launch_order(text, 4)).text, text);
}

} // namespace
} // namespace gossamer::apps
