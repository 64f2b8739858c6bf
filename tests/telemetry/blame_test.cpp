#include "gossamer/actors/telemetry/blame.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace gossamer::actors {
namespace {

using json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t second = 1'000'000'000;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    result.push_back(line);
  return result;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Returns three workers after 20 s, in which the others wait for worker 2, which is slow.
blame_table slow_worker() {
  blame_table table(3);
  for (int step = 0; step < 10; ++step) {
    table.computed(0, second / 2);
    table.computed(1, second / 4);
    table.computed(2, 2 * second);
    table.waited(0, 0, second / 10);
    table.waited(0, 2, second);
    table.waited(1, 2, second + second / 2);
  }
  table.waited(1, 0, second);
  table.finish(20 * second);
  return table;
}

TEST(blame, adds_up_who_waited_for_whom) {
  const auto all = json::parse(slow_worker().to_json());
  EXPECT_EQ(all["total_s"], 20.0);
  EXPECT_EQ(all["workers"], json::parse(R"([
    {"rank": 0, "computing_s": 5.0, "own_gradient_s": 1.0, "peers_s": 10.0, "worst_peer": 2, "worst_peer_s": 10.0,
     "blamed_s": 1.0},
    {"rank": 1, "computing_s": 2.5, "own_gradient_s": 0.0, "peers_s": 16.0, "worst_peer": 2, "worst_peer_s": 15.0,
     "blamed_s": 0.0},
    {"rank": 2, "computing_s": 20.0, "own_gradient_s": 0.0, "peers_s": 0.0, "worst_peer": null, "worst_peer_s": 0.0,
     "blamed_s": 25.0}])"));
  EXPECT_EQ(all["waits"], json::parse(R"([
    {"waiter": 1, "culprit": 2, "seconds": 15.0}, {"waiter": 0, "culprit": 2, "seconds": 10.0},
    {"waiter": 1, "culprit": 0, "seconds": 1.0}])"));
}

TEST(blame, shows_the_longest_waits_first) {
  const auto shown = lines(slow_worker().to_text());
  ASSERT_EQ(shown.size(), 9u);
  EXPECT_THAT(words(shown[1]), ElementsAre("1", "2.500", "0.000", "16.000", "2", "15.000", "0.000"));
  EXPECT_THAT(words(shown[2]), ElementsAre("0", "5.000", "1.000", "10.000", "2", "10.000", "1.000"));
  EXPECT_THAT(words(shown[3]), ElementsAre("2", "20.000", "0.000", "0.000", "-", "0.000", "25.000"));
  EXPECT_EQ(shown[4], "");
  EXPECT_THAT(words(shown[6]), ElementsAre("1", "2", "15.000", "75.0", "%"));
  EXPECT_THAT(words(shown[7]), ElementsAre("0", "2", "10.000", "50.0", "%"));
  EXPECT_THAT(words(shown[8]), ElementsAre("1", "0", "1.000", "5.0", "%"));
}

TEST(blame, aligns_its_columns) {
  auto shown = lines(slow_worker().to_text());
  for (const std::size_t i : {1u, 2u, 3u})
    EXPECT_EQ(shown[i].size(), shown[0].size());
  for (const std::size_t i : {6u, 7u, 8u})
    EXPECT_EQ(shown[i].size(), shown[5].size());
}

TEST(blame, says_what_it_leaves_out) {
  const auto shown = lines(slow_worker().to_text(1));
  ASSERT_EQ(shown.size(), 7u);
  EXPECT_EQ(shown[2], "... and 2 more");
  EXPECT_EQ(shown[6], "... and 2 more");
}

TEST(blame, of_runs_in_which_nobody_waits) {
  for (const std::size_t workers : {0u, 1u, 4u}) {
    blame_table table(workers);
    table.finish(0);
    EXPECT_THAT(table.to_text(), StartsWith("worker "));
    EXPECT_THAT(table.to_text(), HasSubstr("nobody waited for another worker\n"));
    EXPECT_EQ(json::parse(table.to_json())["workers"].size(), workers);
    EXPECT_TRUE(json::parse(table.to_json())["waits"].empty());
  }
}

TEST(blame, of_many_workers_stays_short) {
  constexpr std::uint32_t n = 10'000;
  blame_table table(n);
  for (std::uint32_t i = 0; i < n; ++i)
    table.waited(i, (i + 1) % n, i);
  table.finish(second);
  EXPECT_EQ(lines(table.to_text()).size(), 25u);
  const auto all = json::parse(table.to_json());
  EXPECT_EQ(all["waits"].size(), n - 1); // worker 0 waited for 0 ns
  EXPECT_EQ(all["waits"][0]["waiter"], n - 1);
}

} // namespace
} // namespace gossamer::actors
