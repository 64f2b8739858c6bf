#include "gossamer/apps/detail/line_history.hpp"

#include <gmock/gmock.h>

namespace gossamer::apps {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(line_history, gives_late_readers_a_digest_and_then_every_line) {
  line_history history;
  history.add("end", "end");
  history.add("view", "old view");
  history.add("run", "run");
  history.add("event-note", "event 1");
  history.add("progress", "progress 1");
  history.add("view", "view");
  line_history::place at;
  EXPECT_THAT(history.read(at), ElementsAre(R"({"type":"begin"})", "run", "view", "progress 1", "event 1", "end"));
  EXPECT_THAT(history.read(at), IsEmpty());
  history.add("workers", "workers 1");
  history.add("workers", "workers 2");
  EXPECT_THAT(history.read(at), ElementsAre("workers 1", "workers 2"));
}

TEST(line_history, gives_a_reader_that_is_too_slow_a_new_digest) {
  line_history history;
  line_history::place slow, quick;
  history.read(slow);
  history.read(quick);
  const std::string long_line(line_history::most_recent_bytes / 3, 'x');
  for (int i = 0; i < 5; ++i) {
    history.add("workers", long_line + std::to_string(i));
    EXPECT_THAT(history.read(quick), ElementsAre(long_line + std::to_string(i)));
  }
  EXPECT_THAT(history.read(slow), ElementsAre(R"({"type":"begin"})", long_line + "4"));
}

TEST(line_history, keeps_few_lines_for_readers_that_are_behind_as_of_other_kinds) {
  line_history history{3};
  line_history::place slow, quick;
  history.read(slow);
  history.read(quick);
  for (const auto* line : {"1", "2", "3"})
    history.add("workers", line);
  EXPECT_THAT(history.read(quick), ElementsAre("1", "2", "3"));
  history.add("workers", "4");
  EXPECT_THAT(history.read(quick), ElementsAre("4"));
  EXPECT_THAT(history.read(slow), ElementsAre(R"({"type":"begin"})", "4"));
}

TEST(line_history, gives_a_digest_at_places_that_there_are_not) {
  line_history history;
  history.add("run", "run 1");
  line_history::place beyond{1000};
  EXPECT_THAT(history.read(beyond), ElementsAre(R"({"type":"begin"})", "run 1"));
  EXPECT_THAT(history.read(beyond), IsEmpty());
}

TEST(line_history, gives_every_reader_a_digest_of_what_comes_after_it_was_cleared) {
  line_history history;
  line_history::place at;
  history.add("run", "run 1");
  history.add("evaluation", "evaluation 1");
  history.read(at);
  history.clear();
  EXPECT_THAT(history.read(at), ElementsAre(R"({"type":"begin"})"));
  history.add("run", "run 2");
  EXPECT_THAT(history.read(at), ElementsAre("run 2"));
  line_history::place late;
  EXPECT_THAT(history.read(late), ElementsAre(R"({"type":"begin"})", "run 2"));
}

TEST(line_history, keeps_a_bounded_number_of_lines_from_the_whole_run) {
  line_history history;
  const std::size_t many = 10 * line_history::most_kept;
  for (std::size_t i = 0; i < many; ++i) {
    history.add("progress", "p" + std::to_string(i));
    history.add("event-note", "e" + std::to_string(i));
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

TEST(line_history, knows_a_bounded_number_of_types) {
  line_history history;
  for (std::size_t i = 0; i < 10 * line_history::most_types; ++i)
    history.add("type " + std::to_string(i), "line");
  history.add("type 0", "last");
  line_history::place at;
  EXPECT_EQ(history.read(at).size(), 1 + line_history::most_types);
  EXPECT_EQ(history.types().size(), line_history::most_types);
  EXPECT_EQ(history.types().at("type 0").newest, "last");
}

TEST(line_history, wakes_its_reader) {
  line_history history;
  int news = 0;
  history.on_news([&] { ++news; });
  history.add("event-note", "one");
  history.add("event-note", "two");
  history.on_news({});
  history.add("event-note", "three");
  EXPECT_EQ(news, 2);
}

} // namespace
} // namespace gossamer::apps
