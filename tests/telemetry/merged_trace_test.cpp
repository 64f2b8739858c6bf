#include "gossamer/actors/hosting/merged_trace.hpp"
#include "gossamer/actors/hosting/run_trace.hpp"
#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using kind = trace_moment::kind;
using std::chrono::nanoseconds;

/// Hands frames to whoever gets them, in virtual time.
class sink final : public link {
public:
  void send(frame) override {}
};

/// A process of a run in virtual time, whose clock is wrong.
struct traced_process {
  traced_process(const std::int64_t& true_ns, std::int64_t lacks_ns)
      : trace([this](const trace_moment& m) { told.push_back(m); }) {
    trace.begin([&true_ns, lacks_ns] { return nanoseconds{true_ns - lacks_ns}; }, 2);
  }
  std::vector<trace_moment> told;
  run_trace trace;
};

class a_merged_trace : public testing::Test {
protected:
  void send(traced_process& from, rank to, const frame& f) { from.trace.watch(to, std::make_unique<sink>())->send(f); }
  /// Adds all that was told so far, which arrives a while later.
  void collect(traced_process& from, clock_alignment::process number, std::int64_t later_ns = 1000) {
    all.add(number, from.told, now_ns + later_ns);
    from.told.clear();
  }
  /// "kind of worker at time" of each moment that is no beginning.
  std::vector<std::string> in_order() const {
    std::vector<std::string> result;
    for (const auto& m : all.in_order())
      if (m.what.what != kind::begins)
        result.push_back(fmt::format("{} of {} at {}", static_cast<int>(m.what.what), m.what.who, m.what.at_ns));
    return result;
  }

  std::int64_t now_ns = 0;
  merged_trace all;
  const frame of_0{.source = 0, .label = {frame_kind::model, 7}}, of_1{.source = 1, .label = {frame_kind::model, 7}};
};

TEST_F(a_merged_trace, shows_frames_between_processes_by_one_clock) {
  traced_process first{now_ns, 0}, second{now_ns, 5'000'000};
  const auto a = all.open("node 0: ", 0), b = all.open("node 1: ", 0);
  now_ns = 100;
  send(first, 1, of_0);
  now_ns = 150;
  second.trace.delivered(1, of_0);
  now_ns = 200;
  send(second, 0, of_1);
  now_ns = 250;
  first.trace.delivered(0, of_1);
  collect(second, b);
  collect(first, a);
  EXPECT_THAT(in_order(), ElementsAre("4 of 0 at 100", "5 of 1 at 150", "4 of 1 at 200", "5 of 0 at 250"));
}

TEST_F(a_merged_trace, places_a_process_without_frames_by_its_arrivals) {
  traced_process first{now_ns, 0}, second{now_ns, -70'000};
  const auto a = all.open("node 0: ", 0), b = all.open("node 1: ", 0);
  now_ns = 100;
  first.trace.computed(0, 1, nanoseconds{10});
  collect(first, a);
  now_ns = 300;
  second.trace.computed(1, 1, nanoseconds{10});
  collect(second, b);
  EXPECT_THAT(in_order(), ElementsAre("1 of 0 at 100", "1 of 1 at 300"));
}

TEST_F(a_merged_trace, tells_frames_of_two_beginnings_apart) {
  const auto a = all.open("node 0: ", 0), b = all.open("node 1: ", 0);
  const auto again = all.open("node 1: ", 1);
  traced_process first{now_ns, 0}, second{now_ns, 0};
  now_ns = 100;
  send(first, 1, of_0);
  send(second, 0, of_1);
  now_ns = 9'000'000;
  traced_process third{now_ns, 0};
  third.trace.delivered(1, of_0);
  collect(first, a);
  collect(second, b);
  collect(third, again);
  run_picture picture;
  all.draw(picture);

  EXPECT_EQ(picture.events(), 0u) << "no frame is drawn from one beginning to the next";
}

TEST_F(a_merged_trace, never_lets_a_frame_come_before_it_was_sent_though_clocks_drift) {
  traced_process first{now_ns, 0}, second{now_ns, 40};
  const auto a = all.open("node 0: ", 0), b = all.open("node 1: ", 0);
  for (std::uint64_t step = 0; step < 3; ++step) { // the second clock loses more and more
    auto there = of_0, back = of_1;
    there.label.step = back.label.step = step;
    now_ns += 1000;
    send(first, 1, there);
    now_ns += 10;
    second.trace.delivered(1, there);
    second.told.back().at_ns -= static_cast<std::int64_t>(100 * step);
    send(second, 0, back);
    second.told.back().at_ns -= static_cast<std::int64_t>(100 * step);
    now_ns += 10;
    first.trace.delivered(0, back);
  }
  collect(first, a);
  collect(second, b);
  std::map<std::pair<rank, std::uint64_t>, std::int64_t> sent;
  std::size_t frames = 0;
  for (const auto& m : all.in_order()) {
    if (m.what.what == kind::sent)
      sent[{m.what.who, m.what.label.step}] = m.what.at_ns;
    if (m.what.what == kind::delivered) {
      ++frames;
      EXPECT_GE(m.what.at_ns, sent.at({m.what.other, m.what.label.step}));
    }
  }
  EXPECT_EQ(frames, 6u);
}

TEST_F(a_merged_trace, counts_what_does_not_fit) {
  merged_trace small{2};
  const auto a = small.open("", 0);
  const std::vector<trace_moment> three(3, {.what = kind::view});
  small.add(a, three, 0);
  small.add(a, std::vector<trace_moment>{{.what = kind::over, .value = 5}}, 0);
  EXPECT_EQ(small.left_out(), 1u + 5u);
  EXPECT_THAT(small.in_order(), SizeIs(2));
}

TEST_F(a_merged_trace, of_nothing_is_empty) { EXPECT_THAT(all.in_order(), IsEmpty()); }

TEST(moments, are_read_as_they_were_written) {
  const std::vector<trace_moment> all{{.what = kind::begins, .who = 16},
                                      {.what = kind::sent,
                                       .at_ns = -5,
                                       .who = 1,
                                       .other = 2,
                                       .incarnation = 3,
                                       .label = {frame_kind::reply, 4, 5, 6},
                                       .value = 7}};
  EXPECT_EQ(moments_from(to_text(all)), all);
  EXPECT_THAT(moments_from(""), IsEmpty());
}

TEST(moments, are_refused_when_they_are_damaged) {
  const auto text = to_text(std::vector<trace_moment>{{.what = kind::sent, .at_ns = 12, .value = 3}});
  for (std::size_t length = 1; length + 1 < text.size(); ++length)
    EXPECT_THROW(moments_from(text.substr(0, length)), error) << length;
  const auto behind_the_last = std::to_string(static_cast<int>(kind::over) + 1);
  EXPECT_THROW(moments_from(behind_the_last + " 0 0 0 0 1 0 0 0 0"), error);
  for (const auto* damaged : {"x", "4 1  2", "4 99999999999999999999 0 0 0 1 0 0 0 0", "0 0 4294967295 0 0 1 0 0 0 0",
                              "4 9223372036854775807 0 0 0 1 0 0 0 0", "9 0 0 0 0 1 0 0 0 -1"})
    EXPECT_THROW(moments_from(damaged), error) << damaged;
}

} // namespace
} // namespace gossamer::actors
