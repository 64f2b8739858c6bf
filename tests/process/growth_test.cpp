// Runs that nodes join and leave on the way: real binaries, real sockets.
#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <future>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <utility>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class growing_run : public command {
protected:
  /// Returns the command of a run of two nodes, which three may become. It ends only when it is told to.
  words leader(const words& algorithm) const {
    const words two{"node", "--listen", "127.0.0.1:0", "--nodes", "2", "--", "train", "--workers", "2"};
    const words endless{"--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "5"};
    return words{"env", "-C", folder_.string()}
           + gossamer(two + endless + words{"--max-workers", "3", "--out", "run", "--algorithm"} + algorithm);
  }
  words joining(const std::string& address) const {
    return words{"env", "-C", folder_.string()} + gossamer({"node", "--join", address});
  }
  /// Returns the text between two texts.
  static std::string between(const std::string& all, const std::string& before, const std::string& after) {
    const auto begin = all.find(before) + before.size();
    return all.substr(begin, all.find(after, begin) - begin);
  }
  /// Starts the second node when the first one asks for it. @param address gets that of the first
  void begin(support::subprocess& leading, std::string& address, std::optional<support::subprocess>& founder) const {
    leading.when("--join ", [&, this](const auto& so_far) {
      address = address_in(so_far);
      founder.emplace(joining(address));
    });
  }
  static std::string address_in(const support::outcome& so_far) { return between(so_far.err, "--join ", "\n"); }
};

TEST_F(growing_run, takes_in_a_node_and_lets_nodes_go) {
  for (const auto& algorithm : {words{"cser"}, words{"ad-psgd", "--topology", "star"}}) {
    SCOPED_TRACE(algorithm[0]);
    std::filesystem::remove_all(folder_ / "run");
    std::string address;
    std::optional<support::subprocess> founder, newcomer;
    support::outcome unknown, asked, late;
    support::subprocess leading(leader(algorithm));
    begin(leading, address, founder);
    leading
        .when("epoch ",
              [&](const auto& so_far) {
                const auto door = between(so_far.err, "node 1 of 2 is ready (", ")"); // not the leader's door
                newcomer.emplace(joining("127.0.0.1:1," + door));
              })
        .when("worker 2 comes",
              [&](const auto&) {
                late = run({"node", "--join", address});
                unknown = run({"leave", address, "--node", "7"});
                asked = run({"leave", address, "--node", "1"});
              })
        .when("node 1 has left", [&](const auto&) { newcomer->send_signal(SIGTERM); })
        .signal_after("node 2 has left", SIGINT);
    const auto led = leading.finish(), left = founder->finish(), came = newcomer->finish();
    EXPECT_EQ(led.status, 130) << led.err;
    EXPECT_THAT(led.err, AllOf(HasSubstr("node 2 has come"), HasSubstr("worker 1 has left; 2 go on"),
                               HasSubstr("worker 2 has left; 1 go on")));
    EXPECT_EQ(late.status, 1);
    EXPECT_THAT(late.err, AllOf(HasSubstr("the run has all of its 3 nodes"), HasSubstr("--max-workers")));
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("there is no node 7"));
    EXPECT_EQ(asked.status, 0) << asked.err;
    EXPECT_THAT(asked.out, HasSubstr("node 1 leaves as soon as it has handed over what it has"));
    EXPECT_EQ(left.status, 0) << left.err;
    EXPECT_THAT(left.err, HasSubstr("this node takes part; others may join here, too, at 127.0.0.1:"));
    EXPECT_EQ(came.status, 0) << came.err;
    EXPECT_EQ(json::parse(read("run/summary.json"))["lost"], 0);
  }
}

TEST_F(growing_run, keeps_the_place_of_a_node_that_is_there) {
  std::string address;
  std::optional<support::subprocess> founder;
  support::outcome insisting;
  support::subprocess leading(leader({"d-psgd"}));
  begin(leading, address, founder);
  leading.when("epoch ", [&](const auto&) {
    insisting = run({"node", "--join", address, "--number", "1", "--patience", "5"}); // asks again for so long
    leading.send_signal(SIGINT);
  });
  const auto led = leading.finish();
  EXPECT_EQ(led.status, 130) << led.err;
  EXPECT_EQ(founder->finish().status, 0);
  EXPECT_EQ(insisting.status, 1);
  EXPECT_THAT(insisting.err, HasSubstr("node 1 is there, or has not been missed yet"));
}

// A candidate changes nothing until it is let in.
TEST_F(growing_run, keeps_the_place_of_one_that_is_silent_when_whoever_wants_it_fails) {
  std::string address;
  std::optional<support::subprocess> silent, newcomer;
  support::outcome failed;
  auto all = leader({"ad-psgd", "--topology", "star"});
  const words impatient{"--patience", "5"};
  all.insert(std::ranges::find(all, "--nodes"), impatient.begin(), impatient.end());
  support::subprocess leading(all);
  leading
      .then("--join ",
            [&](const auto& so_far) {
              address = address_in(so_far);
              silent.emplace(joining(address) + impatient);
            })
      .then("epoch ", [&](const auto&) { newcomer.emplace(joining(address) + impatient); })
      .then("worker 2 comes", [&](const auto&) { silent->send_signal(SIGSTOP); })
      .then("node 1 is lost",
            [&](const auto&) {
              failed = run({"node", "--join", address, "--number", "1", "--device", "cuda:99"});
              silent->send_signal(SIGCONT);
            })
      .then("worker 1 comes back", SIGINT);
  const auto led = leading.finish(), returned = silent->finish(), stayed = newcomer->finish();
  EXPECT_EQ(led.status, 130) << led.err;
  EXPECT_THAT(led.err, HasSubstr("node 1 is heard again"));
  EXPECT_THAT(failed.err, HasSubstr("this is node 1"));
  EXPECT_NE(failed.status, 0);
  EXPECT_EQ(returned.status, 0) << returned.err;
  EXPECT_EQ(stayed.status, 0) << stayed.err;
}

TEST_F(growing_run, goes_on_without_the_node_that_led) {
  std::string address;
  std::optional<support::subprocess> founder;
  support::subprocess leading(leader({"d-psgd"}));
  begin(leading, address, founder);
  leading.when("epoch ", [&](const auto&) { EXPECT_EQ(run({"leave", address}).status, 0); });
  const auto led = leading.finish();
  EXPECT_EQ(led.status, 0) << led.err;
  EXPECT_THAT(led.err, AllOf(HasSubstr("the run goes on with node 1 (127.0.0.1:"),
                             HasSubstr("this node has left, as it was asked to; the run goes on")));
  founder->signal_after("epoch ", SIGINT);
  const auto went_on = founder->finish();
  EXPECT_EQ(went_on.status, 130) << went_on.err;
  EXPECT_THAT(went_on.err, HasSubstr("node 1 leads the run from now on"));
}

/// A file of data, which its first reader waits for.
class awaited_data {
public:
  explicit awaited_data(std::filesystem::path where) : where_(std::move(where)) {
    constexpr int least = 4096; // makes it full with anything in it
    if (pipe2(ends_.data(), O_CLOEXEC) != 0 || fcntl(ends_[1], F_SETPIPE_SZ, least) < least)
      throw std::runtime_error("no pipe");
    std::filesystem::create_symlink("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends_[0]), where_);
  }
  awaited_data(const awaited_data&) = delete;
  awaited_data& operator=(const awaited_data&) = delete;
  ~awaited_data() {
    for (const int end : ends_)
      close(end);
  }
  /// Gives the data to the first reader, and leaves them to later ones.
  void come(const std::string& data) {
    constexpr int patience_ms = 120'000;
    EXPECT_EQ(::write(ends_[1], data.data(), data.size()), static_cast<ssize_t>(data.size()));
    pollfd taken{ends_[1], POLLOUT, 0};
    EXPECT_EQ(poll(&taken, 1, patience_ms), 1) << "nobody reads them";
    const auto whole = where_.string() + ".part";
    std::ofstream(whole, std::ios::binary) << data;
    std::filesystem::rename(whole, where_);
    close(std::exchange(ends_[1], -1));
  }

private:
  std::filesystem::path where_;
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(growing_run, lets_a_node_in_that_has_prepared_it_for_a_leader_that_has_left) {
  std::string rows, address;
  for (int k = 0; k < 100; ++k)
    rows += std::to_string(k) + "," + std::to_string(k % 2) + "\n";
  write("rows.csv", rows);
  std::filesystem::create_directory(folder_ / "newcomer");
  awaited_data data{folder_ / "newcomer/rows.csv"};
  std::optional<support::subprocess> founder, newcomer;
  std::future<support::outcome> came;
  support::subprocess leading(leader({"d-psgd", "--data", "csv:train=rows.csv", "--batch", "4", "--model", "softmax"}));
  begin(leading, address, founder);
  leading.when("epoch ", [&](const auto&) {
    newcomer.emplace(words{"env", "-C", (folder_ / "newcomer").string()} + gossamer({"node", "--join", address}));
    newcomer->when("this is node 2", [&](const auto&) { EXPECT_EQ(run({"leave", address}).status, 0); });
    came = std::async(std::launch::async, [&] { return newcomer->finish(); });
  });
  const auto led = leading.finish();
  ASSERT_TRUE(newcomer) << led.err;
  data.come(rows);
  const auto went_on = founder->signal_after("worker 0 comes back", SIGINT).finish(); // it gets the first free place
  const auto joined = came.get();
  EXPECT_EQ(led.status, 0) << led.err;
  EXPECT_EQ(went_on.status, 130) << went_on.err;
  EXPECT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err, AllOf(HasSubstr("is lost; it asks again"), HasSubstr("the run is over")));
}

} // namespace
} // namespace gossamer
