// Several nodes in one process that share a token, on 127.0.0.1, and nodes with another token or none.
#include "data_plane/live_planes.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

class token_test : public test::data_plane_test {
protected:
  token_test() { shows.token = access_token::drawn(); }
};

TEST_F(token_test, carries_every_frame_once_and_in_order_while_connections_break) {
  share_memory = false;
  exchange_while_connections_break();
}

TEST_F(token_test, gives_way_to_memory_once_both_have_proved_themselves) { exchange_while_connections_break(); }

TEST_F(token_test, is_not_disturbed_by_strangers) { exchange_among_strangers(); }

TEST_F(token_test, tells_nothing_to_who_knows_the_run_and_not_the_token) {
  start(2);
  test::raw_connection stranger{planes[0]->listens_on().port};
  stranger.send(write(hello{.run = test::run, .fingerprint = 7, .node = 1, .meant_node = 0}));
  EXPECT_EQ(stranger.receive_until_closed().size(), 0u);
}

TEST_F(token_test, does_not_reach_a_node_with_another_token) {
  expect_lost_with({.token = access_token::drawn()}, {.token = access_token::drawn()},
                   HasSubstr("it does not accept this token"));
}

TEST_F(token_test, does_not_reach_a_node_with_a_token_without_one) {
  expect_lost_with({}, {.token = access_token::drawn()}, HasSubstr("could not be reached"));
}

} // namespace
} // namespace gossamer::actors
