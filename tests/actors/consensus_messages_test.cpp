// The messages of delegates as they cross machines.
#include "gossamer/actors/protocol/consensus.hpp"

#include <caf/all.hpp>
#include <gtest/gtest.h>

namespace gossamer::actors::consensus {
namespace {

TEST(messages_of_delegates, are_the_same_when_they_have_been_read_back) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto last = founding({0, 1, 2}, {0, 1}, 100), next = last;
  next.what.number = 2;
  next.what.view = {2, 7, {{0, 0}, {2, 2}}, {{2, 0}}};
  next.stopping = true;
  next.why = run_end::seconds;
  const ballot by{3, 1, 0};
  const auto check = [&](const auto& sent) {
    auto copy = sent;
    std::vector<char> bytes;
    caf::binary_serializer sink{system, bytes};
    EXPECT_FALSE(sink(copy));
    std::remove_const_t<std::remove_reference_t<decltype(sent)>> received{};
    EXPECT_NE(received, sent) << "the sample has only defaults";
    caf::binary_deserializer source{system, bytes};
    EXPECT_FALSE(source(received));
    EXPECT_EQ(received, sent);
  };
  check(hold{by, last});
  holding answer{by, 1, {4, {"a", 1}, {"b", 2}}, 1, {by, next}, {}};
  answer.workers.resize(2, {.who = 2, .incarnation = 1, .line = 3, .step = 5, .next_exchange = 8});
  check(answer);
  check(propose{by, last, next});
  check(accepted{by, 1, 4, 2});
  check(proceed{next});
  check(refused{by, {4, 0, 0}, last});
}

} // namespace
} // namespace gossamer::actors::consensus
