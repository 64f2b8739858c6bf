#include "gossamer/actors/frames/channel.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <array>
#include <functional>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using time = channel::time;

frame numbered(channel& c, time now, bool keep = true) {
  frame f{.label = {frame_kind::model}, .body = {}};
  c.number(f, now, keep);
  return f;
}

frame with_sequence(std::uint64_t sequence) {
  return {.sequence = sequence, .label = {frame_kind::model, sequence}, .body = {}};
}

std::vector<std::uint64_t> delivered_by(channel& c, std::uint64_t sequence) {
  std::vector<std::uint64_t> delivered;
  c.arrived(with_sequence(sequence), [&](const frame& f) { delivered.push_back(f.sequence); });
  return delivered;
}

TEST(channel, hands_on_each_frame_once_and_in_order) {
  channel c;
  EXPECT_EQ(c.received(), 0u);
  EXPECT_THAT(delivered_by(c, 2), ElementsAre());
  EXPECT_THAT(delivered_by(c, 4), ElementsAre());
  EXPECT_THAT(delivered_by(c, 2), ElementsAre());
  EXPECT_EQ(c.received(), 0u);
  EXPECT_THAT(delivered_by(c, 1), ElementsAre(1, 2));
  EXPECT_EQ(c.received(), 2u);
  EXPECT_THAT(delivered_by(c, 1), ElementsAre());
  EXPECT_THAT(delivered_by(c, 3), ElementsAre(3, 4));
  EXPECT_THAT(delivered_by(c, 4), ElementsAre());
  EXPECT_EQ(c.received(), 4u);
}

TEST(channel, hands_on_every_order_of_five_frames_sorted) {
  std::array<std::uint32_t, 5> order{1, 2, 3, 4, 5};
  do {
    channel c;
    std::vector<std::uint64_t> all;
    for (const auto sequence : order)
      for (int copy = 0; copy < 2; ++copy)
        std::ranges::copy(delivered_by(c, sequence), std::back_inserter(all));
    ASSERT_THAT(all, ElementsAre(1, 2, 3, 4, 5));
  } while (std::ranges::next_permutation(order).found);
}

TEST(channel, ignores_frames_without_a_number) {
  channel c;
  EXPECT_THAT(delivered_by(c, 0), ElementsAre());
  EXPECT_EQ(c.received(), 0u);
}

// The numbers wrap after a day and a half at 30,000 frames a second.
TEST(channel, numbers_more_frames_than_32_bits_can_tell_apart) {
  constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
  for (const bool keep : {false, true}) {
    channel sender{wrap - 2}, receiver{wrap - 2};
    for (std::uint64_t k = wrap - 1; k <= wrap + 2; ++k) {
      const auto f = numbered(sender, 0s, keep);
      EXPECT_EQ(f.sequence, k);
      EXPECT_THAT(delivered_by(receiver, f.sequence), ElementsAre(k));
      sender.acknowledged(receiver.received(), 1ms);
      EXPECT_EQ(sender.timeout(), std::nullopt) << "nothing is left to be repeated";
    }
  }
}

TEST(channel, numbers_from_one_and_keeps_nothing_where_nobody_acknowledges) {
  channel c;
  EXPECT_EQ(numbered(c, 0s, false).sequence, 1u);
  EXPECT_EQ(numbered(c, 0s, false).sequence, 2u);
  EXPECT_EQ(c.timeout(), std::nullopt);
  c.acknowledged(2, 1s);
  EXPECT_EQ(c.timeout(), std::nullopt);
}

TEST(channel, waits_a_second_before_it_has_measured_anything) {
  channel c;
  EXPECT_EQ(c.timeout(), std::nullopt);
  numbered(c, 5s);
  EXPECT_EQ(c.timeout(), 6s);
  numbered(c, 5500ms); // the timer belongs to the oldest frame
  EXPECT_EQ(c.timeout(), 6s);
}

TEST(channel, follows_the_round_trips_as_rfc_6298_says) {
  channel c;
  numbered(c, 0ms);
  c.acknowledged(1, 100ms); // srtt 100, rttvar 50
  EXPECT_EQ(c.timeout(), std::nullopt);
  numbered(c, 1000ms);
  EXPECT_EQ(c.timeout(), 1000ms + 300ms);
  c.acknowledged(2, 1060ms); // rttvar (3 * 50 + 40) / 4, srtt (7 * 100 + 60) / 8
  numbered(c, 2000ms);
  EXPECT_EQ(c.timeout(), 2000ms + 95ms + 4 * 47500us);
  c.acknowledged(3, 2175ms); // 80 ms slower: rttvar (3 * 47.5 + 80) / 4, srtt (7 * 95 + 175) / 8
  numbered(c, 3000ms);
  EXPECT_EQ(c.timeout(), 3000ms + 105ms + 4 * 55625us);
}

TEST(channel, keeps_its_timeout_between_two_bounds) {
  channel fast;
  numbered(fast, 0s);
  fast.acknowledged(1, 1us);
  numbered(fast, 1s);
  EXPECT_EQ(fast.timeout(), 1s + channel::least_timeout);
  channel slow;
  numbered(slow, 0s);
  slow.acknowledged(1, 20s);
  numbered(slow, 30s);
  EXPECT_EQ(slow.timeout(), 30s + channel::longest_timeout);
}

TEST(channel, repeats_the_oldest_frame_and_doubles_its_patience_each_time) {
  channel c;
  numbered(c, 0s);
  numbered(c, 0s);
  time now = 0s;
  for (const time wait : {1s, 2s, 2s, 2s}) {
    ASSERT_EQ(c.timeout(), now + wait);
    now = *c.timeout();
    ASSERT_EQ(c.repeat(now).sequence, 1u);
  }
  EXPECT_TRUE(c.acknowledged(1, now + 1s)) << "the second was sent before the first was repeated";
  EXPECT_EQ(c.timeout(), now + 1s + 2s) << "the second frame begins to wait where the first ended";
  EXPECT_EQ(c.repeat(now + 3s).sequence, 2u);
}

TEST(channel, learns_nothing_from_the_answer_to_a_repeated_frame) {
  channel c;
  numbered(c, 0s);
  c.repeat(1s);
  c.acknowledged(1, 1001ms); // an acknowledgement of the first or of the second sending
  numbered(c, 5s);
  EXPECT_EQ(c.timeout(), 7s) << "still doubled";
  c.acknowledged(2, 5100ms); // the first sample
  numbered(c, 6s);
  EXPECT_EQ(c.timeout(), 6300ms);
}

TEST(channel, learns_nothing_from_frames_that_waited_for_a_repetition) {
  channel c;
  numbered(c, 0s);
  c.acknowledged(1, 100ms);
  for (int k = 0; k < 3; ++k)
    numbered(c, 1s);
  EXPECT_EQ(c.timeout(), 1300ms);
  EXPECT_EQ(c.repeat(1300ms).sequence, 2u);
  numbered(c, 1350ms);
  c.acknowledged(4, 1400ms);
  c.acknowledged(5, 1450ms);
  numbered(c, 2s);
  EXPECT_EQ(c.timeout(), 2s + (100ms + 4 * 37500us)) << "a round trip still takes 100 ms";
}

TEST(channel, takes_one_acknowledgement_for_all_frames_before_it) {
  channel c;
  for (int k = 0; k < 5; ++k)
    numbered(c, 0s);
  c.acknowledged(4, 10ms);
  EXPECT_NE(c.timeout(), std::nullopt);
  c.acknowledged(2, 20ms); // overtaken by the acknowledgement of 4
  EXPECT_NE(c.timeout(), std::nullopt);
  EXPECT_EQ(c.repeat(*c.timeout()).sequence, 5u);
  c.acknowledged(5, 2s);
  EXPECT_EQ(c.timeout(), std::nullopt);
  c.acknowledged(5, 3s);
  EXPECT_EQ(c.timeout(), std::nullopt);
}

TEST(channel, does_not_believe_that_a_frame_arrived_which_it_has_not_sent) {
  channel c;
  numbered(c, 0s);
  c.acknowledged(2, 10ms);
  EXPECT_EQ(c.timeout(), 1s);
  c.acknowledged(std::uint64_t{1} << 40, 10ms);
  EXPECT_EQ(c.timeout(), 1s);
  c.acknowledged(1, 10ms);
  EXPECT_EQ(c.timeout(), std::nullopt);
}

TEST(channel, repeats_at_once_what_three_later_frames_have_overtaken) {
  channel c;
  for (int k = 0; k < 5; ++k)
    numbered(c, 0s);
  EXPECT_FALSE(c.acknowledged(1, 20ms)); // frame 2 is lost; 3, 4 and 5 arrive
  EXPECT_FALSE(c.acknowledged(1, 21ms));
  EXPECT_FALSE(c.acknowledged(1, 22ms));
  EXPECT_TRUE(c.acknowledged(1, 23ms));
  EXPECT_EQ(c.repeat_early(23ms).sequence, 2u);
  EXPECT_FALSE(c.acknowledged(1, 24ms)) << "once is enough";
}

TEST(channel, repeats_what_was_lost_together_one_after_the_other_without_waiting) {
  channel c;
  for (int k = 0; k < 4; ++k)
    numbered(c, 0s);
  EXPECT_EQ(c.repeat(1s).sequence, 1u);
  numbered(c, 1s);
  for (std::uint32_t next = 2; next <= 4; ++next) { // each answer asks for the next frame
    EXPECT_TRUE(c.acknowledged(next - 1, 1s + next * 10ms));
    EXPECT_EQ(c.repeat_early(1s + next * 10ms).sequence, next);
  }
  EXPECT_FALSE(c.acknowledged(4, 1100ms)) << "5 was sent after the repetition and may be under way";
}

/// The effects of a link on the frames that pass.
struct weather {
  double loss = 0, duplication = 0;
  time least_delay = 5ms, most_delay = 5ms; ///< range of delays; each frame draws its own and may overtake others
  time dark_from = time::max(), dark_until = time::max();
};

/// Two channels that send each other numbered frames over bad links. All events happen in the order of virtual time.
class conversation {
public:
  /// @param before number of frames that each direction has carried already
  conversation(std::uint64_t seed, weather w, std::uint64_t before = 0)
      : random_({seed, 0, purpose::network}, 0), weather_(w), ends_{channel{before}, channel{before}} {}

  /// Makes each end send `frames` frames, at random times within `within`.
  void run(std::uint32_t frames, time within) {
    for (std::size_t end = 0; end < 2; ++end)
      for (std::uint32_t k = 0; k < frames; ++k)
        schedule(between(0s, within), [this, end] { say(end); });
    while (const auto next = next_time()) {
      now_ = *next;
      ASSERT_LT(now_, 1000h) << "this never ends";
      for (std::size_t end = 0; end < 2; ++end)
        while (ends_[end].timeout() && *ends_[end].timeout() <= now_) {
          ++repetitions;
          send(end, ends_[end].repeat(now_));
        }
      while (!events_.empty() && events_.begin()->first <= now_)
        events_.extract(events_.begin()).mapped()();
    }
  }

  bool idle() const { return !ends_[0].timeout() && !ends_[1].timeout(); }

  std::array<std::vector<std::uint64_t>, 2> heard; ///< messages of the peer, by receiving end, in the order of arrival
  std::uint64_t repetitions = 0;

private:
  time between(time from, time to) {
    return from + time(static_cast<std::int64_t>(random_.uniform_double() * static_cast<double>((to - from).count())));
  }
  std::optional<time> next_time() const {
    std::optional<time> next;
    for (const auto& at : {ends_[0].timeout(), ends_[1].timeout(),
                           events_.empty() ? std::nullopt : std::optional{events_.begin()->first}})
      if (at && (!next || *at < *next))
        next = at;
    return next;
  }
  void schedule(time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }

  void say(std::size_t end) {
    frame f{.label = {frame_kind::model, said_[end]++}, .body = {}};
    ends_[end].number(f, now_, true);
    send(end, f);
  }

  void send(std::size_t from, const frame& f) {
    const bool dark = now_ >= weather_.dark_from && now_ < weather_.dark_until;
    for (int copy = random_.uniform() < weather_.duplication ? 2 : 1; copy > 0; --copy)
      if (!dark && random_.uniform() >= weather_.loss)
        schedule(now_ + between(weather_.least_delay, weather_.most_delay), [this, from, f] { hear(1 - from, f); });
  }

  void hear(std::size_t end, const frame& f) {
    if (f.label.kind == frame_kind::acknowledgement) {
      if (ends_[end].acknowledged(f.label.step, now_)) {
        ++repetitions;
        send(end, ends_[end].repeat_early(now_));
      }
      return;
    }
    ends_[end].arrived(f, [&](const frame& next) { heard[end].push_back(next.label.step); });
    send(end, {.label = {frame_kind::acknowledgement, ends_[end].received()}, .body = {}});
  }

  random_sequence random_;
  weather weather_;
  time now_{};
  std::multimap<time, std::function<void()>> events_;
  std::array<channel, 2> ends_;
  std::array<std::uint64_t, 2> said_{};
};

void expect_everything_once_and_in_order(const conversation& c, std::uint32_t frames) {
  for (const auto& heard : c.heard) {
    ASSERT_EQ(heard.size(), frames);
    for (std::uint64_t k = 0; k < frames; ++k)
      ASSERT_EQ(heard[k], k);
  }
  EXPECT_TRUE(c.idle()) << "something is still not acknowledged";
}

TEST(channels, bring_every_frame_once_and_in_order_through_any_weather) {
  constexpr std::uint32_t frames = 30;
  for (const double loss : {0.0, 0.1, 0.5, 0.8})
    for (const double duplication : {0.0, 0.3, 1.0})
      for (const time most_delay : {5ms, 400ms, 5000ms})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          SCOPED_TRACE(testing::Message() << "loss " << loss << ", duplication " << duplication << ", delay "
                                          << most_delay.count() << ", seed " << seed);
          conversation c{seed, {.loss = loss, .duplication = duplication, .most_delay = most_delay}};
          c.run(frames, 10s);
          ASSERT_NO_FATAL_FAILURE(expect_everything_once_and_in_order(c, frames));
        }
}

TEST(channels, pass_the_last_number_of_32_bits_in_any_weather) {
  constexpr std::uint32_t frames = 30;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    conversation c{seed, {.loss = 0.3, .duplication = 0.3, .most_delay = 400ms}, (std::uint64_t{1} << 32) - 15};
    c.run(frames, 10s);
    ASSERT_NO_FATAL_FAILURE(expect_everything_once_and_in_order(c, frames));
    EXPECT_GT(c.repetitions, 0u);
  }
}

TEST(channels, survive_a_time_without_any_connection) {
  constexpr std::uint32_t frames = 50;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    conversation c{seed, {.loss = 0.1, .most_delay = 50ms, .dark_from = 2s, .dark_until = 100s}};
    c.run(frames, 10s);
    ASSERT_NO_FATAL_FAILURE(expect_everything_once_and_in_order(c, frames));
    EXPECT_GT(c.repetitions, 0u);
  }
}

TEST(channels, repeat_nothing_when_nothing_is_lost_and_answers_are_prompt) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    conversation c{seed, {.least_delay = 1ms, .most_delay = 4ms}}; // a round trip is shorter than any timeout
    c.run(200, 10s);
    ASSERT_NO_FATAL_FAILURE(expect_everything_once_and_in_order(c, 200));
    EXPECT_EQ(c.repetitions, 0u);
  }
}

} // namespace
} // namespace gossamer::actors
