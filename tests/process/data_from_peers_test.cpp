// Nodes that lack the data of a run, and fetch them from other nodes.
#include "gossamer/compute/npz.hpp"

#include <csignal>
#include <future>
#include <optional>

#include "command.hpp"

namespace gossamer {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class data_from_peers : public command {
protected:
  void SetUp() override {
    command::SetUp();
    for (const auto* name : {"leader", "newcomer"})
      fs::create_directories(folder_ / name);
    write("leader/rows.csv", rows(200, 3));
  }

  /// Returns rows of digits, the last of which is the class.
  static std::string rows(int count, int seed) {
    std::string result;
    for (int k = 0; k < count; ++k) {
      for (int column = 0; column < 40; ++column)
        result += std::to_string((seed + k * (column + 7)) % 10) + ",";
      result += std::to_string(k % 2) + "\n";
    }
    return result;
  }

  words in(const std::string& name, const words& given) const {
    return words{"env", "-C", (folder_ / name).string()} + gossamer(given);
  }
  static inline const words job{"--",          "train",  "--model", "softmax", "--data",    "csv:train=rows.csv",
                                "--algorithm", "d-psgd", "--steps", "2",       "--workers", "2",
                                "--batch",     "4"};
  words fetching(const std::string& cache = "cache") const {
    return {"--data-from-peers", "--data-cache", (folder_ / cache).string()};
  }
  static words joining(const support::outcome& leader) {
    const auto address = leader.err.substr(leader.err.find("--join ") + 7);
    return {"node", "--join", address.substr(0, address.find_first_of(" \n"))};
  }

  struct outcomes {
    support::outcome led, joined;
  };
  /// Runs a leader and a newcomer.
  /// @param join runs the newcomer with the words of its command
  outcomes run_both(const std::function<support::outcome(const words& to_join)>& join, const words& more = {},
                    const words& to_lead = {}) const {
    outcomes result;
    support::subprocess leader(in("leader", words{"node", "--listen", "127.0.0.1:0"} + to_lead + job
                                                + words{"--out", "run", "--overwrite"} + more));
    leader.when("--join", [&](const support::outcome& so_far) {
      result.joined = join(joining(so_far));
      if (result.joined.status != 0)
        leader.send_signal(SIGTERM); // no other node will come
    });
    result.led = leader.finish();
    return result;
  }
  outcomes run_with(const words& flags, const words& more = {}, const words& to_lead = {}) const {
    return run_both([&](const words& to_join) { return support::subprocess(in("newcomer", to_join + flags)).finish(); },
                    more, to_lead);
  }
  void expect_trained(const outcomes& both) const {
    EXPECT_EQ(both.led.status, 0) << both.led.err;
    EXPECT_EQ(both.joined.status, 0) << both.joined.err;
    EXPECT_THAT(both.joined.err, HasSubstr("the run is over"));
    EXPECT_TRUE(exists("leader/run/summary.json"));
  }
  std::vector<std::string> cached() const {
    std::vector<std::string> names;
    if (exists("cache"))
      for (const auto& entry : fs::directory_iterator{folder_ / "cache"})
        names.push_back(entry.path().filename().string());
    return names;
  }
};

TEST_F(data_from_peers, is_asked_for_by_a_flag_that_the_error_names) {
  const auto both = run_with({});
  EXPECT_EQ(both.joined.status, 1);
  EXPECT_THAT(both.joined.err, AllOf(HasSubstr("cannot read 'rows.csv': No such file or directory"),
                                     HasSubstr("--data-from-peers fetches what is missing from other nodes")));
}

TEST_F(data_from_peers, is_fetched_once) {
  const compute::large_vector<float> halves(80, 0.5f);
  compute::write_npz((folder_ / "leader/start.npz").string(),
                     std::vector<compute::named_tensor>{{"bias", {1, 2}, {0, 1}}, {"weight", {40, 2}, halves}});
  const words initial{"--initial", "start.npz"};
  const auto first = run_with(fetching(), initial);
  expect_trained(first);
  EXPECT_THAT(first.joined.err, AllOf(HasSubstr("cannot read 'rows.csv'"), HasSubstr("fetches 2 files of the data, "),
                                      HasSubstr("has fetched")));
  EXPECT_EQ(cached().size(), 2u);
  const auto again = run_with(fetching(), initial);
  expect_trained(again);
  EXPECT_THAT(again.joined.err, Not(HasSubstr("fetches")));
}

TEST_F(data_from_peers, is_not_fetched_where_it_is_the_same) {
  fs::copy_file(folder_ / "leader/rows.csv", folder_ / "newcomer/rows.csv");
  const auto both = run_with(fetching());
  expect_trained(both);
  EXPECT_THAT(both.joined.err, Not(HasSubstr("fetches")));
  EXPECT_FALSE(exists("cache"));
}

TEST_F(data_from_peers, is_fetched_where_it_is_another) {
  write("newcomer/rows.csv", rows(200, 4));
  const auto both = run_with(fetching());
  expect_trained(both);
  EXPECT_THAT(both.joined.err, AllOf(HasSubstr("the data here is not the leader's"), HasSubstr("fetches 1 file")));
  EXPECT_EQ(read("newcomer/rows.csv"), rows(200, 4)) << "which is left alone";
}

TEST_F(data_from_peers, goes_on_where_a_newcomer_was_killed) {
  write("leader/rows.csv", rows(20'000, 3)); // 1.6 MB
  support::outcome killed;
  const auto both = run_both([&](const words& to_join) {
    support::subprocess first(in("newcomer", to_join + fetching() + words{"--data-rate", "400kB/s"}));
    killed = first.signal_after(" of the data\n", SIGKILL).finish(); // the newcomer has a part by then
    return support::subprocess(in("newcomer", to_join + fetching())).finish();
  });
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  EXPECT_THAT(killed.err, AllOf(HasSubstr(": has "), Not(HasSubstr("has fetched"))));
  expect_trained(both);
  EXPECT_THAT(both.joined.err, HasSubstr("may be here from before"));
  ASSERT_EQ(cached().size(), 1u);
  EXPECT_EQ(read("cache/" + cached()[0]), read("leader/rows.csv"));
}

TEST_F(data_from_peers, is_left_where_it_was_when_the_newcomer_is_interrupted) {
  write("leader/rows.csv", rows(20'000, 3));
  const auto both = run_both([&](const words& to_join) {
    support::subprocess slow(in("newcomer", to_join + fetching() + words{"--data-rate", "100kB/s"}));
    return slow.signal_after(" of the data\n", SIGTERM).finish();
  });
  EXPECT_EQ(both.joined.status, 128 + SIGTERM) << both.joined.err;
  EXPECT_THAT(both.joined.err, HasSubstr("interrupted"));
  ASSERT_EQ(cached().size(), 1u);
  EXPECT_THAT(cached()[0], testing::EndsWith(".part"));
}

TEST_F(data_from_peers, comes_from_a_node_that_has_fetched_it_when_the_leader_has_it_no_more) {
  std::optional<support::subprocess> first;
  support::outcome second;
  support::subprocess leader(in("leader", words{"node", "--listen", "127.0.0.1:0", "--nodes", "3"} + job
                                              + words{"--workers", "3", "--out", "run"}));
  leader.when("--join ", [&](const auto& so_far) { first.emplace(in("newcomer", joining(so_far) + fetching())); })
      .when("is ready (", [&](const auto& so_far) {
        fs::remove(folder_ / "leader/rows.csv");
        second = support::subprocess(in("newcomer", joining(so_far) + fetching("other"))).finish();
        if (second.status != 0)
          leader.send_signal(SIGTERM);
      });
  const auto led = leader.finish();
  ASSERT_TRUE(first) << led.err;
  EXPECT_EQ(led.status, 0) << led.err;
  EXPECT_EQ(first->finish().status, 0);
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.err, AllOf(HasSubstr("the leader says: cannot hand on 'rows.csv'"), HasSubstr("from 1 node in")));
}

TEST_F(data_from_peers, goes_on_when_the_leader_is_killed) {
  write("leader/rows.csv", rows(20'000, 3));
  const words endless{"--workers", "3", "--max-workers", "4", "--steps", "100000000", "--eval-every", "1"};
  std::optional<support::subprocess> heir, third, newcomer;
  std::future<support::outcome> came;
  support::subprocess leader(
      in("leader", words{"node", "--listen", "127.0.0.1:0", "--nodes", "3"} + job + endless + words{"--out", "run"}));
  leader
      .when("--join ",
            [&](const auto& so_far) {
              heir.emplace(in("leader", joining(so_far)));
              third.emplace(in("leader", joining(so_far)));
            })
      .when("epoch ", [&](const auto& so_far) {
        newcomer.emplace(in("newcomer", joining(so_far) + fetching() + words{"--data-rate", "400kB/s"}));
        newcomer->when(" of the data\n", [&](const auto&) { leader.send_signal(SIGKILL); });
        came = std::async(std::launch::async, [&] { return newcomer->finish(); });
      });
  const auto led = leader.finish();
  ASSERT_TRUE(newcomer) << led.err;
  heir->signal_after("worker 3 comes", SIGINT);
  third->signal_after("worker 3 comes", SIGINT); // the node that leads now
  auto last = std::async(std::launch::async, [&] { return third->finish(); });
  const auto went_on = heir->finish();
  const auto joined = came.get();
  EXPECT_EQ(led.status, 128 + SIGKILL);
  EXPECT_THAT(went_on.err + last.get().err, HasSubstr("worker 3 comes"));
  EXPECT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err,
              AllOf(HasSubstr("the leader is lost"), HasSubstr("has fetched"), HasSubstr("the run is over")));
}

TEST_F(data_from_peers, comes_through_tls_where_there_are_certificates) {
  ASSERT_EQ(run({"certs", "--out", "certs", "--hosts", "127.0.0.1"}).status, 0);
  const words certs{"--certs", (folder_ / "certs/127.0.0.1").string()};
  const auto both = run_with(fetching() + certs, {}, certs);
  expect_trained(both);
  EXPECT_THAT(both.joined.err, HasSubstr("has fetched"));
}

TEST_F(data_from_peers, is_shared_by_the_nodes_of_a_machine) {
  write("leader/rows.csv", rows(20'000, 3));
  write("hosts.toml", "[[host]]\nhost = 'localhost'\ndirectory = '" + (folder_ / "leader").string()
                          + "'\n\n[[host]]\nhost = 'localhost'\nslots = 2\ndirectory = '"
                          + (folder_ / "newcomer").string() + "'\n");
  const auto ended =
      run(words{"launch", "--hosts", "hosts.toml", "--data-rate", "4MB/s"} + fetching() + words{"--", "train"}
          + words(job.begin() + 2, job.end()) + words{"--workers", "3", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(cached().size(), 1u);
  const auto fetched = [&](const std::string& node) {
    return ended.err.find(node + " localhost] gossamer: has fetched") != std::string::npos;
  };
  EXPECT_NE(fetched("[1"), fetched("[2")) << ended.err;
}

TEST_F(data_from_peers, that_cannot_be_kept_is_one_sentence) {
  write("file", "");
  const auto both = run_with({"--data-from-peers", "--data-cache", (folder_ / "file/cache").string()});
  EXPECT_EQ(both.joined.status, 1);
  EXPECT_THAT(both.joined.err, AllOf(HasSubstr("cannot keep fetched data in"), HasSubstr("--data-cache DIR")));
}

TEST_F(data_from_peers, has_flags_that_are_checked) {
  for (const auto* rate : {"fast", "8MB/h", "0MB/s", "-1kB/s", "8 MB/s", "1e30GB/s"}) {
    const auto ended = run({"node", "--join", "127.0.0.1:1", "--data-from-peers", "--data-rate", rate});
    EXPECT_EQ(ended.status, 2) << rate << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("--data-rate")) << rate;
  }
  const auto alone = run({"node", "--join", "127.0.0.1:1", "--data-rate", "1MB/s"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("--data-rate"), HasSubstr("--data-from-peers")));
}

} // namespace
} // namespace gossamer
