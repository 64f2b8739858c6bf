#include "gossamer/actors/frames/link.hpp"
#include "gossamer/actors/worker/inbox.hpp"
#include "gossamer/actors/worker/task.hpp"
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;

constexpr rank no_frame = 99;

frame make_frame(rank source, tag label) { return {.source = source, .label = label, .body = {}}; }

task<> collect(inbox& box, std::vector<std::pair<rank, tag>> wanted, std::vector<rank>& order) {
  for (const auto& [from, label] : wanted) {
    const auto f = co_await box.receive(from, label);
    order.push_back(f ? f->source : no_frame);
  }
}

TEST(inbox, keeps_early_frames_until_they_are_asked_for) {
  inbox box;
  std::vector<rank> order;
  const tag now{frame_kind::model, 0}, next{frame_kind::model, 1};
  auto t = collect(box, {{1, now}, {2, now}, {1, next}}, order);
  box.deliver(make_frame(2, now));
  box.deliver(make_frame(1, next)); // from a neighbour that is a round ahead
  t.start();
  EXPECT_THAT(order, ElementsAre());
  box.deliver(make_frame(1, now));
  EXPECT_THAT(order, ElementsAre(1, 2, 1));
  EXPECT_TRUE(t.done());
  EXPECT_EQ(box.unclaimed(), 0u);
}

TEST(inbox, tells_kinds_steps_and_parts_apart) {
  inbox box;
  std::vector<rank> order;
  const tag wanted{frame_kind::reduce_segment, 3, 1};
  auto t = collect(box, {{0, wanted}}, order);
  t.start();
  box.deliver(make_frame(0, {frame_kind::gather_segment, 3, 1}));
  box.deliver(make_frame(0, {frame_kind::reduce_segment, 2, 1}));
  box.deliver(make_frame(0, {frame_kind::reduce_segment, 3, 0}));
  box.deliver(make_frame(1, wanted));
  EXPECT_FALSE(t.done());
  box.deliver(make_frame(0, wanted));
  EXPECT_TRUE(t.done());
  EXPECT_EQ(box.unclaimed(), 4u);
}

// As two slices of a sum do, of which one has thrown: the other is destroyed with the coroutine that awaits both.
TEST(inbox, forgets_a_coroutine_that_is_destroyed_while_it_waits) {
  inbox box;
  std::vector<rank> order;
  const tag now{frame_kind::model, 0};
  auto stays = collect(box, {{2, now}}, order);
  stays.start();
  {
    auto goes = collect(box, {{1, now}}, order);
    goes.start();
  }
  EXPECT_FALSE(box.awaits(make_frame(1, now)));
  box.deliver(make_frame(1, now));
  box.hold();
  box.thaw();
  box.deliver(make_frame(2, now));
  EXPECT_THAT(order, ElementsAre(2));
  EXPECT_EQ(box.unclaimed(), 1u);
}

task<> serve(inbox& box, std::vector<rank>& order, std::size_t count) {
  while (order.size() < count) {
    const auto f = co_await box.receive_any(frame_kind::average_request);
    order.push_back(f.source);
  }
}

TEST(inbox, serves_anybody_in_the_order_of_arrival) {
  inbox box;
  std::vector<rank> order;
  box.deliver(make_frame(5, {frame_kind::average_request}));
  box.deliver(make_frame(3, {frame_kind::average_request}));
  auto t = serve(box, order, 3);
  t.start();
  box.deliver(make_frame(7, {frame_kind::average_reply})); // a frame of another kind
  box.deliver(make_frame(4, {frame_kind::average_request}));
  EXPECT_THAT(order, ElementsAre(5, 3, 4));
  EXPECT_EQ(box.unclaimed(), 1u);
}

TEST(inbox, ends_a_wait_that_is_hopeless_with_nothing) {
  inbox box;
  std::vector<rank> order;
  const tag wanted{frame_kind::model, 0};
  auto t = collect(box, {{1, wanted}, {2, wanted}, {1, wanted}}, order);
  t.start();
  box.give_up([](const inbox::reception& r) { return r.from() == 2; });
  EXPECT_THAT(order, ElementsAre()) << "the wait for 1 was not hopeless";
  box.deliver(make_frame(1, wanted));
  box.give_up([](const inbox::reception& r) { return r.from() == 2; });
  EXPECT_THAT(order, ElementsAre(1, no_frame));
  box.give_up([](const inbox::reception&) { return true; });
  EXPECT_TRUE(t.done());
}

task<> receive_from_the_lost(inbox& box, std::vector<rank>& order) {
  for (int k = 0; k < 2; ++k) {
    const auto f = co_await box.receive(1, {frame_kind::model}, true);
    order.push_back(f ? f->source : no_frame);
  }
}

TEST(inbox, hands_out_what_a_peer_sent_before_it_was_lost) {
  inbox box;
  box.deliver(make_frame(1, {frame_kind::model}));
  std::vector<rank> order;
  auto t = receive_from_the_lost(box, order);
  t.start();
  EXPECT_THAT(order, ElementsAre(1, no_frame));
}

TEST(inbox, hands_out_nothing_while_it_is_frozen) {
  inbox box;
  std::vector<rank> order;
  const tag wanted{frame_kind::model, 0};
  auto t = collect(box, {{1, wanted}, {2, wanted}, {3, wanted}}, order);
  box.deliver(make_frame(1, wanted));
  box.hold();
  t.start();
  box.deliver(make_frame(3, wanted));
  box.deliver(make_frame(2, wanted));
  EXPECT_THAT(order, ElementsAre());
  EXPECT_EQ(box.unclaimed(), 3u);
  box.thaw();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_TRUE(t.done());
}

TEST(inbox, gives_those_who_give_up_what_came_while_it_was_frozen) {
  inbox box;
  std::vector<rank> order;
  const tag wanted{frame_kind::model, 0};
  auto t = collect(box, {{1, wanted}, {2, wanted}}, order);
  t.start();
  box.hold();
  box.deliver(make_frame(1, wanted));
  box.deliver(make_frame(2, wanted));
  box.give_up([](const inbox::reception& r) { return r.from() == 1; });
  EXPECT_THAT(order, ElementsAre(1)) << "2 still lives, and its frame waits";
  box.give_up([](const inbox::reception& r) { return r.from() == 1; });
  EXPECT_THAT(order, ElementsAre(1));
  box.thaw();
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST(traffic, counts_payload_and_wire_bits) {
  buffer_pool pool;
  const auto codec = compress::make_codec("uniform:bits=8");
  vec v{pool, 1001};
  v.mutate()[3] = 1;
  auto f = make_frame(0, {frame_kind::model});
  f.body = codec->encode(v, random_stream{1, 0, purpose::quantise}, 0);
  traffic of_models, of_acknowledgements;
  of_models.count(f);
  of_models.count(f);
  of_acknowledgements.count(make_frame(0, {frame_kind::acknowledgement}));
  EXPECT_EQ(of_models, (traffic{2, 2 * (32 + 8 * 1001), 2 * 8 * (7 + 12 + 4 + 1001)}));
  EXPECT_EQ(of_acknowledgements, (traffic{1, 0, 8 * (7 + 10)}));
}

} // namespace
} // namespace gossamer::actors
