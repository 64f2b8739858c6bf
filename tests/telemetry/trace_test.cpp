#include "gossamer/actors/telemetry/trace.hpp"
#include "gossamer/base/philox.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "support/trace_rules.hpp"

namespace gossamer::actors {
namespace {

using json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string written(const trace_recorder& trace) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* memory = open_memstream(&text, &size);
  trace.write(memory);
  std::fclose(memory);
  std::string result{text, size};
  std::free(text); // as the manual of open_memstream says
  return result;
}

/// Returns the events of a file that must be in order.
std::vector<json> events(const trace_recorder& trace) {
  const auto text = written(trace);
  EXPECT_THAT(support::trace_rules::problems(text), IsEmpty()) << text.substr(0, 3000);
  return json::parse(text)["traceEvents"];
}

std::vector<json> events(const trace_recorder& trace, const std::string& phase) {
  auto all = events(trace);
  std::erase_if(all, [&](const json& e) { return e["ph"] != phase; });
  return all;
}

/// Returns the name of the thread on which each slice ended up.
std::vector<std::string> rows(const trace_recorder& trace) {
  std::map<int, std::string> name_of;
  for (const auto& e : events(trace, "M"))
    if (e["name"] == "thread_name")
      name_of[e["tid"]] = e["args"]["name"];
  std::vector<std::string> result;
  for (const auto& e : events(trace, "X"))
    result.push_back(name_of.at(e["tid"]));
  return result;
}

TEST(trace, of_nothing_is_a_file) {
  const trace_recorder trace;
  EXPECT_THAT(events(trace), IsEmpty());
  EXPECT_EQ(json::parse(written(trace))["displayTimeUnit"], "ms");
}

TEST(trace, counts_in_microseconds) {
  trace_recorder trace;
  const auto worker = trace.track("workers", "0");
  trace.slice(worker, trace.name("gradient"), 1'234'567, 2'234'568, {{trace.name("step"), 7}, {trace.name("n"), -1}});
  const auto slices = events(trace, "X");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0]["name"], "gradient");
  EXPECT_EQ(slices[0]["ts"], 1234.567);
  EXPECT_EQ(slices[0]["dur"], 1000.001);
  EXPECT_EQ(slices[0]["args"], json({{"step", 7}, {"n", -1}}));
  EXPECT_THAT(written(trace), HasSubstr("\"ts\":1234.567,"));
}

TEST(trace, keeps_every_nanosecond_of_long_runs) {
  trace_recorder trace;
  const std::int64_t year = 31'557'600'000'000'000;
  trace.slice(trace.track("workers", "0"), trace.name("x"), year + 1, year + 1);
  EXPECT_THAT(written(trace), HasSubstr("\"ts\":31557600000000.001,"));
}

TEST(trace, names_a_row_once_and_shows_groups_in_order) {
  trace_recorder trace;
  const auto b = trace.track("links", "1 -> 0");
  const auto a = trace.track("workers", "0");
  EXPECT_EQ(trace.track("links", "1 -> 0"), b);
  EXPECT_NE(trace.track("workers", "1 -> 0"), b);
  EXPECT_EQ(trace.name("x"), trace.name("x"));
  trace.instant(b, trace.name("x"), 0);
  trace.instant(a, trace.name("x"), 0);
  std::map<std::string, int> place;
  std::map<int, std::string> group;
  const auto metadata = events(trace, "M");
  for (const auto& e : metadata)
    if (e["name"] == "process_name")
      group[e["pid"]] = e["args"]["name"];
  for (const auto& e : metadata)
    if (e["name"] == "process_sort_index")
      place[group[e["pid"]]] = e["args"]["sort_index"];
  EXPECT_THAT(place, ElementsAre(testing::Pair("links", 0), testing::Pair("workers", 1)));
}

TEST(trace, writes_any_text) {
  for (const std::string text :
       {"\"quoted\" \\ back", "line\nend\t", "\x01", "{}{0}%s", "\xff not UTF-8", "\u03b3 = 0.1", ""}) {
    trace_recorder trace;
    trace.slice(trace.track(text, text), trace.name(text), 0, 1, {{trace.name(text), 1}});
    const auto slices = events(trace, "X");
    ASSERT_EQ(slices.size(), 1u);
    const bool replaced = text.starts_with('\xff');
    EXPECT_EQ(slices[0]["name"], replaced ? "\uFFFD not UTF-8" : text);
  }
}

TEST(trace, nests_slices_whatever_the_order_in_which_they_are_recorded) {
  trace_recorder trace;
  const auto worker = trace.track("workers", "0");
  for (const auto& [begin, end] : {std::pair{2, 3}, {0, 10}, {0, 0}, {0, 3}, {3, 10}, {10, 10}, {10, 12}, {0, 10}})
    trace.slice(worker, trace.name("x"), begin, end);
  EXPECT_THAT(rows(trace), testing::Each("0"));
}

TEST(trace, spreads_slices_that_overlap_over_lanes) {
  trace_recorder trace;
  const auto link = trace.track("links", "0 -> 1");
  for (const auto& [begin, end] : {std::pair{0, 5}, {3, 8}, {4, 9}, {5, 10}, {8, 13}})
    trace.slice(link, trace.name("model"), begin, end);
  EXPECT_THAT(rows(trace), ElementsAre("0 -> 1", "0 -> 1 (2)", "0 -> 1 (3)", "0 -> 1", "0 -> 1 (2)"));
}

TEST(trace, uses_as_many_lanes_as_frames_are_in_flight) {
  for (const int in_flight : {1, 2, 31, 32, 33}) {
    trace_recorder trace;
    const auto link = trace.track("links", "0 -> 1");
    for (int i = 0; i < 1000; ++i) // a pipe: all take equally long
      trace.slice(link, trace.name("model"), i, i + in_flight);
    const auto all = rows(trace);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), static_cast<std::size_t>(in_flight));
  }
}

TEST(trace, keeps_the_rules_for_random_events) {
  const random_stream stream(1, 0, purpose::data);
  for (std::uint64_t round = 0; round < 20; ++round) {
    random_sequence random(stream, round);
    trace_recorder trace;
    std::vector<trace_track> tracks;
    for (int i = 0; i < 5; ++i)
      tracks.push_back(trace.track(i < 2 ? "workers" : "links", std::to_string(i)));
    const auto any = [&] { return tracks[random.below(5)]; };
    for (int i = 0; i < 200; ++i) {
      const std::int64_t begin = random.below(100), end = begin + random.below(20);
      trace.slice(any(), trace.name("slice"), begin, end);
      trace.arrow(trace.name("arrow"), any(), begin, any(), end);
      trace.instant(any(), trace.name("instant"), end);
      trace.counter(any(), trace.name("counter"), end, random.normal());
    }
    const auto all = events(trace);
    for (const char* phase : {"X", "s", "f", "i", "C"})
      EXPECT_EQ(std::ranges::count(all, phase, [](const json& e) { return e["ph"]; }), 200) << phase;
  }
}

TEST(trace, draws_arrows_from_slice_to_slice) {
  trace_recorder trace;
  const auto link = trace.track("links", "0 -> 1");
  const auto worker = trace.track("workers", "1");
  trace.slice(link, trace.name("first"), 0, 10);
  trace.slice(link, trace.name("second"), 4, 12);
  trace.slice(worker, trace.name("received"), 12, 12);
  trace.arrow(trace.name("frame"), link, 4, worker, 12);
  const auto slices = events(trace, "X");
  ASSERT_EQ(slices.size(), 3u);
  const auto from = events(trace, "s"), to = events(trace, "f");
  ASSERT_EQ(from.size(), 1u);
  ASSERT_EQ(to.size(), 1u);
  EXPECT_EQ(from[0]["tid"], slices[1]["tid"]);
  EXPECT_EQ(to[0]["tid"], slices[2]["tid"]);
  EXPECT_EQ(to[0]["bp"], "e");
  EXPECT_EQ(from[0]["id"], to[0]["id"]);
}

TEST(trace, writes_events_in_the_order_of_time) {
  trace_recorder trace;
  const auto worker = trace.track("workers", "0");
  for (const int at : {5, 1, 3})
    trace.instant(worker, trace.name("x"), at);
  std::vector<double> times;
  for (const auto& e : events(trace, "i"))
    times.push_back(e["ts"]);
  EXPECT_THAT(times, ElementsAre(0.001, 0.003, 0.005));
}

TEST(trace, draws_curves_of_finite_numbers) {
  trace_recorder trace;
  const auto worker = trace.track("workers", "0");
  for (const double loss : {2.5, 1e-300, std::nan(""), std::numeric_limits<double>::infinity()})
    trace.counter(worker, trace.name("loss"), 1, loss);
  const auto drawn = events(trace, "C");
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0]["args"], json({{"value", 2.5}}));
  EXPECT_EQ(drawn[1]["args"], json({{"value", 1e-300}}));
}

TEST(trace, says_that_it_is_full) {
  trace_recorder trace(3);
  const auto worker = trace.track("workers", "0");
  for (int i = 0; i < 5; ++i)
    trace.slice(worker, trace.name("x"), 1000 * i, 1000 * i + 500, {{trace.name("i"), i}});
  EXPECT_EQ(trace.events(), 3u);
  EXPECT_EQ(trace.refused(), 2u);
  EXPECT_EQ(events(trace, "X").size(), 3u);
  const auto marks = events(trace, "i");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0]["name"], "trace full");
  EXPECT_EQ(marks[0]["ts"], 3.0);
  EXPECT_EQ(json::parse(written(trace))["otherData"], json({{"events", 3}, {"limit", 3}, {"refused", 2}}));
}

TEST(trace, is_the_same_file_for_the_same_events) {
  const auto record = [] {
    trace_recorder trace;
    for (int i = 0; i < 100; ++i)
      trace.slice(trace.track("workers", std::to_string(i % 7)), trace.name("x"), i % 10, 10 + i % 3);
    return written(trace);
  };
  EXPECT_EQ(record(), record());
}

TEST(trace, leaves_a_failure_in_the_stream) {
  trace_recorder trace;
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  for (int i = 0; i < 10'000; ++i)
    trace.instant(trace.track("workers", "0"), trace.name("x"), i);
  trace.write(full);
  EXPECT_TRUE(std::ferror(full));
  std::fclose(full);
}

TEST(trace_death, refuses_times_that_cannot_be) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  trace_recorder trace;
  const auto worker = trace.track("workers", "0");
  const auto x = trace.name("x");
  EXPECT_DEATH(trace.slice(worker, x, 2, 1), "a slice does not end before it begins");
  EXPECT_DEATH(trace.instant(worker, x, -1), "nothing happens before the run begins");
  EXPECT_DEATH(trace.arrow(x, worker, 2, worker, 1), "into the past");
}

/// The faults that the checker itself must refuse.
class trace_rules : public testing::Test {
protected:
  static std::vector<std::string> problems(const std::string& events) {
    const std::string names = R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"workers"}},)"
                              R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"0"}})";
    return support::trace_rules::problems("{\"traceEvents\":[" + names + (events.empty() ? "" : ",") + events + "]}");
  }
  static std::string at(const std::string& rest) { return R"({"name":"x","pid":1,"tid":2,"ts":1.000,)" + rest + "}"; }
};

TEST_F(trace_rules, accept_what_is_in_order) {
  EXPECT_THAT(problems(""), IsEmpty());
  EXPECT_THAT(problems(at(R"("ph":"X","dur":0.000)")), IsEmpty());
  EXPECT_THAT(problems(at(R"("ph":"b","cat":"c","id":1)") + "," + at(R"("ph":"e","cat":"c","id":1)")), IsEmpty());
}

TEST_F(trace_rules, refuse_each_fault) {
  EXPECT_THAT(support::trace_rules::problems("{"), ElementsAre("the file is not JSON"));
  EXPECT_THAT(support::trace_rules::problems("[]"), ElementsAre("there is no array traceEvents"));
  const std::vector<std::pair<std::string, std::string>> faults{
      {"1", "no known phase"},
      {at(R"("ph":"Z")"), "no known phase"},
      {at(R"("ph":"X")"), "no dur"},
      {at(R"("ph":"X","dur":-1)"), "dur is no number from 0 on"},
      {at(R"("ph":"X","dur":"1")"), "dur is no number from 0 on"},
      {at(R"("ph":"i")"), "no s"},
      {at(R"("ph":"i","s":"x")"), "unknown scope"},
      {at(R"("ph":"C","args":{"value":"1"})"), "a counter without numbers"},
      {R"({"ph":"i","name":"x","pid":1,"tid":3,"ts":1,"s":"t"})", "thread 3 of process 1 has 0 names"},
      {R"({"ph":"C","name":"x","pid":2,"ts":1,"args":{"value":1}})", "process 2 has 0 names"},
      {R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"0"}})", "thread 2 of process 1 has 2 names"},
      {R"({"ph":"M","name":"thread_name","pid":1,"args":{"name":"0"}})", "no tid"},
      {at(R"("ph":"X","dur":2)") + R"(,{"name":"x","pid":1,"tid":2,"ts":2,"ph":"X","dur":2})", "overlap at 2000 ns"},
      {at(R"("ph":"b","cat":"c","id":1)"), "c 1 has 1 b and 0 e"},
      {at(R"("ph":"b","cat":"c","id":1)") + "," + at(R"("ph":"e","cat":"d","id":1)"), "c 1 has 1 b and 0 e"},
      {at(R"("ph":"f","cat":"c","id":1)"), "c 1 has 0 s and 1 f"},
      {R"({"name":"x","pid":1,"tid":2,"ts":2,"ph":"s","cat":"c","id":1},)" + at(R"("ph":"f","cat":"c","id":1)"),
       "f comes before s"},
  };
  for (const auto& [events, problem] : faults)
    EXPECT_THAT(problems(events), Contains(HasSubstr(problem))) << events;
}

} // namespace
} // namespace gossamer::actors
