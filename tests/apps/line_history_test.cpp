#include "gossamer/apps/detail/line_history.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using enum line_history::importance;

TEST(line_history, gives_late_readers_a_digest_and_then_every_line) {
  line_history history;
  history.add(newest, "end", "end");
  history.add(newest, "view", "old view");
  history.add(newest, "run", "run");
  history.add(lasting, "event", "event 1");
  history.add(sampled, "progress", "progress 1");
  history.add(newest, "view", "view");
  line_history::place at;
  EXPECT_THAT(history.read(at), ElementsAre(R"({"type":"begin"})", "run", "view", "progress 1", "event 1", "end"));
  EXPECT_THAT(history.read(at), IsEmpty());
  history.add(newest, "workers", "workers 1");
  history.add(newest, "workers", "workers 2");
  EXPECT_THAT(history.read(at), ElementsAre("workers 1", "workers 2"));
}

TEST(line_history, gives_a_reader_that_is_too_slow_a_new_digest) {
  line_history history;
  line_history::place slow, quick;
  history.read(slow);
  history.read(quick);
  const std::string long_line(line_history::most_recent_bytes / 3, 'x');
  for (int i = 0; i < 5; ++i) {
    history.add(newest, "workers", long_line + std::to_string(i));
    EXPECT_THAT(history.read(quick), ElementsAre(long_line + std::to_string(i)));
  }
  EXPECT_THAT(history.read(slow), ElementsAre(R"({"type":"begin"})", long_line + "4"));
}

TEST(line_history, keeps_a_bounded_number_of_lines_from_the_whole_run) {
  line_history history;
  const std::size_t many = 10 * line_history::most_kept;
  for (std::size_t i = 0; i < many; ++i) {
    history.add(sampled, "progress", "p" + std::to_string(i));
    history.add(lasting, "event", "e" + std::to_string(i));
  }
  line_history::place at;
  const auto digest = history.read(at);
  const auto count = [&](char kind) {
    return std::ranges::count_if(digest, [kind](const auto& line) { return line.front() == kind; });
  };
  EXPECT_EQ(count('e'), line_history::most_kept);
  EXPECT_GE(count('p'), line_history::most_kept / 2);
  EXPECT_LE(count('p'), line_history::most_kept);
  EXPECT_EQ(digest[1], "p0") << "samples reach back to the beginning";
  EXPECT_EQ(digest.back(), "e" + std::to_string(many - 1));
}

TEST(line_history, wakes_its_reader) {
  line_history history;
  int news = 0;
  history.on_news([&] { ++news; });
  history.add(lasting, "event", "one");
  history.add(lasting, "event", "two");
  history.on_news({});
  history.add(lasting, "event", "three");
  EXPECT_EQ(news, 2);
}

} // namespace
} // namespace gossamer::apps
