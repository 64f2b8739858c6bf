// Checks of a delegate on the messages of others and on its own saved state.
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include "parliament.hpp"

namespace gossamer::actors::consensus {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes(delegate d) {
  archive_writer all;
  d.fields(all);
  return all.bytes();
}

std::string refusal(delegate& d, const message& m, errc code = errc::bad_packet) {
  const auto before = bytes(d);
  try {
    d.on(m);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(bytes(d), before) << "nothing has changed";
    return e.what();
  }
  ADD_FAILURE() << "it has been believed";
  return {};
}

TEST(a_delegate, refuses_what_cannot_be_and_says_why) {
  parliament p{3};
  auto& d = p[0];
  const auto last = p.first();
  const ballot by{1, 1, 0};
  EXPECT_THAT(refusal(d, hold{{1, 7, 0}, last}), HasSubstr("a leader that is no node of this run"));
  EXPECT_THAT(refusal(d, hold{{~std::uint64_t{0}, 1, 0}, last}), HasSubstr("an attempt that nobody makes"));
  EXPECT_THAT(refusal(d, hold{{0, 1, 0}, last}), HasSubstr("an attempt that nobody makes"));
  EXPECT_THAT(refusal(d, hold{by, {}}), HasSubstr("resolves nothing"));
  EXPECT_THAT(refusal(d, accepted{by, 3, 0, 2}), HasSubstr("no node of this run"));
  EXPECT_THAT(refusal(d, propose{by, last, last}), HasSubstr("does not come next"));
  const auto one = [&](standing s) {
    holding m{by, 1, {}, 1, {}, {}};
    m.workers.push_back(s);
    return m;
  };
  EXPECT_THAT(refusal(d, one({.who = 9})), HasSubstr("a worker of another node"));
  EXPECT_THAT(refusal(d, one({.who = 2})), HasSubstr("a worker of another node"));
  EXPECT_THAT(refusal(d, one({.who = 1, .line = 2})), HasSubstr("still to come"));
  EXPECT_THAT(refusal(d, one({.who = 1, .step = ~std::uint64_t{0}})), HasSubstr("a step that nobody reaches"));
  EXPECT_THAT(refusal(d, holding{by, 1, {}, 1, {}, {{.who = 1}, {.who = 1}}}), HasSubstr("twice"));
}

TEST(a_delegate, refuses_resolutions_that_cannot_be) {
  parliament p{3};
  const auto refused_if = [&](auto&& change) {
    auto next = p.first();
    ++next.what.number;
    change(next);
    return refusal(p[0], proceed{next});
  };
  for (const auto number : {~std::uint32_t{0}, std::uint32_t{1} << 20}) // the next one would be 0, or leave no lives
    EXPECT_THAT(refused_if([number](auto& r) { r.what.number = number; }),
                HasSubstr("more resolutions than any run has"));
  EXPECT_THAT(refused_if([](auto& r) { r.what.view.lives[5] = 0; }), HasSubstr("a worker that cannot be"));
  EXPECT_THAT(refused_if([](auto& r) { r.what.view.lives.clear(); }), HasSubstr("everybody out"));
  EXPECT_THAT(refused_if([](auto& r) { r.what.view.number = 3; }), HasSubstr("a view that cannot be"));
  EXPECT_THAT(refused_if([](auto& r) { r.what.view.donors = {{0, 1}, {1, 0}}; }), HasSubstr("nothing to give"));
  EXPECT_THAT(refused_if([](auto& r) { r.voters.clear(); }), HasSubstr("to nobody"));
  EXPECT_THAT(refused_if([](auto& r) { r.voters.insert(9); }), HasSubstr("without its life"));
  EXPECT_THAT(refused_if([](auto& r) { r.nodes.erase(2), r.voters.erase(2); }), HasSubstr("takes no part"));
  EXPECT_THAT(refused_if([](auto& r) { r.nodes[2].life = 3 * seats::most_candidates; }),
              HasSubstr("nobody can have let in"));
  for (const auto& host : {std::string(256, 'a'), std::string("a\0b", 3)})
    EXPECT_THAT(refused_if([&](auto& r) { r.nodes[2].data.host = host; }), HasSubstr("a host that cannot be"));
}

TEST(a_delegate, notices_when_the_protocol_is_broken) {
  parliament p{3};
  auto other = p.first();
  other.what.limit = 7;
  EXPECT_THAT(refusal(p[0], proceed{other}, errc::failed), HasSubstr("decided differently"));
}

TEST(a_delegate, goes_on_from_what_was_saved) {
  parliament p{3};
  p[0].stand();
  p[1].on(message{hold{p[0].own_ballot(), p.first()}});
  for (const node_number i : {0u, 1u}) {
    const auto saved = bytes(p[i]);
    delegate other{p.rules(), 2, process{9, {}, {}}};
    archive_reader reader{saved, buffer_pool{}};
    other.fields(reader);
    reader.finish();
    EXPECT_EQ(bytes(other), saved);
    EXPECT_EQ(other.holds(), p[i].holds());
  }
}

} // namespace
} // namespace gossamer::actors::consensus
