// Runs in several processes: real binaries, real sockets, real deaths.
#include <csignal>

#include "launched_command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class several_processes : public launched_command {
protected:
  /// A job that ends only when it is told to.
  static inline const words endless{
      "--", "train", "--data", "digits:samples=600,test=200", "--epochs", "1e8", "--eval-every", "5", "--out", "run"};

  /// Returns the output and status of a run of three processes, which `disturb` disturbs on the way.
  support::outcome disturbed(const words& flags, const words& job,
                             const std::function<void(support::subprocess&)>& disturb) const {
    support::subprocess run(words{"env", "-C", folder_.string()}
                            + gossamer(words{"launch", "--hosts", "localhost:3"} + flags + endless + job));
    disturb(run);
    return run.finish();
  }
};

TEST_F(several_processes, come_to_what_one_comes_to) {
  for (const char* algorithm : {"d-psgd", "all-reduce-sgd", "cser", "marsit"}) {
    SCOPED_TRACE(algorithm);
    const auto job = small + words{"--algorithm", algorithm, "--overwrite"};
    ASSERT_EQ(run(job + words{"--out", "one"}).status, 0);
    const auto ended = run(words{"launch", "--hosts", "localhost:4", "--"} + job + words{"--out", "several"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("several holds config.toml"));
    auto one = json::parse(read("one/summary.json")), several = json::parse(read("several/summary.json"));
    one.erase("time_s");
    several.erase("time_s");
    EXPECT_EQ(several, one);
  }
}

TEST_F(several_processes, count_what_crosses_between_islands_as_one_and_a_simulation_do) {
  for (const char* algorithm : {"diloco:period=8", "noloco:period=8", "d-psgd", "local-sgd:period=8"}) {
    SCOPED_TRACE(algorithm);
    const words job{"--data",      "digits:samples=600,test=200",
                    "--steps",     "20",
                    "--algorithm", algorithm,
                    "--workers",   "8",
                    "--islands",   "3,3,2",
                    "--overwrite"};
    const auto crossed = [&](const words& how, const std::string& out) {
      const auto ended = run(how + job + words{"--out", out});
      EXPECT_EQ(ended.status, 0) << ended.err;
      EXPECT_THAT(ended.out, HasSubstr("bit of payload between islands\n"));
      return json::parse(read(out + "/summary.json"))["payload_bits_between_islands"].get<std::uint64_t>();
    };
    const auto one = crossed({"train"}, "one");
    EXPECT_GT(one, 0u);
    EXPECT_EQ(crossed({"simulate"}, "simulated"), one);
    EXPECT_EQ(crossed({"simulate", "--processes", "yes", "--workers-per-node", "2"}, "simulated"), one);
    EXPECT_EQ(crossed({"launch", "--hosts", "localhost:4", "--", "train"}, "several"), one);
  }
}

TEST_F(several_processes, train_for_a_time_without_an_end_of_their_own) {
  const auto ended = run({"launch", "--hosts", "localhost:2", "--", "train", "--data", "digits:samples=600,test=200",
                          "--algorithm", "d-psgd", "--seconds", "1", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(json::parse(read("run/summary.json"))["workers"], 2);
}

TEST_F(several_processes, train_asynchronously) {
  const auto ended = run(words{"launch", "--hosts", "localhost:2", "--"} + small
                         + words{"--algorithm", "ad-psgd", "--workers", "6", "--out", "run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(json::parse(read("run/summary.json"))["workers"], 6);
}

TEST_F(several_processes, stop_together_when_interrupted) {
  const auto ended = disturbed({}, {"--algorithm", "d-psgd"}, [](auto& run) { run.signal_after("epoch ", SIGINT); });
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("interrupted"));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("[1 localhost] gossamer: the run is over"),
                               HasSubstr("[2 localhost] gossamer: the run is over")));
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
}

TEST_F(several_processes, end_with_the_signal_that_stops_them) {
  const auto ended = disturbed({}, {}, [](auto& run) { run.signal_after("epoch ", SIGTERM); }); // three nodes on a ring
  EXPECT_EQ(ended.status, 128 + SIGTERM) << ended.err;
  EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
}

TEST_F(several_processes, end_with_the_signal_also_while_they_wait_for_others) {
  const auto script = folder_ / write("never-comes", "#!/bin/sh\necho waiting\nexec cat\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  for (const std::string that_come : {"1", "2"})
    for (const int signal : {SIGTERM, SIGINT}) {
      write("hosts.toml", "[[host]]\nslots = " + that_come + "\n\n[[host]]\nbinary = '" + script.string() + "'\n");
      support::subprocess run(words{"env", "-C", folder_.string()}
                              + gossamer({"launch", "--hosts", "hosts.toml", "--patience", "60s", "--", "train"}));
      const auto ended = run.signal_after(that_come == "1" ? "waiting" : "node 1 of 3 is ready", signal).finish();
      EXPECT_EQ(ended.status, 128 + signal) << ended.err;
      EXPECT_THAT(ended.err, AllOf(HasSubstr("interrupted while it waited for nodes"), Not(HasSubstr("its command"))))
          << "a node that has come is not to blame";
    }
}

TEST_F(several_processes, go_on_when_one_is_killed) {
  for (const auto& job : {words{"--algorithm", "all-reduce-sgd"}, words{"--algorithm", "ad-psgd", "--topology", "star"},
                          words{"--algorithm", "ad-psgd", "--islands", "1,2"}}) { // of which it is a head
    SCOPED_TRACE(job.back());
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = disturbed({}, job, [](auto& run) {
      run.when(is_under_way, [](const auto& so_far) { kill(process_of(1, so_far), SIGKILL); })
          .signal_after("worker 1 is lost; 2 go on", SIGINT);
    });
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("node 1 is lost: its process is gone"));
    EXPECT_EQ(json::parse(read("run/summary.json"))["lost"], 1);
  }
}

TEST_F(several_processes, take_back_one_that_is_started_again) {
  const auto ended = disturbed({"--restart", "1"}, {"--algorithm", "all-reduce-sgd"}, [](auto& run) {
    run.when(is_under_way, [](const auto& so_far) { kill(process_of(1, so_far), SIGKILL); })
        .signal_after("worker 1 comes back", SIGINT);
  });
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("[1 localhost] is started again (1 of 1)"), HasSubstr("node 1 is back")));
  const auto summary = json::parse(read("run/summary.json"));
  EXPECT_EQ(summary["lost"], 1);
  EXPECT_EQ(summary["returned"], 1);
  const auto nodes = json::parse(read("run/nodes/nodes.json"));
  EXPECT_EQ(nodes[1]["restarts"], 1);
  EXPECT_EQ(nodes[2]["restarts"], 0);
}

TEST_F(several_processes, go_on_when_one_is_silent) {
  const auto ended = disturbed({"--patience", "5"}, {"--algorithm", "all-reduce-sgd"}, [](auto& run) {
    run.when(is_under_way, [](const auto& so_far) { kill(process_of(2, so_far), SIGSTOP); })
        .signal_after("worker 2 is lost; 2 go on", SIGINT);
  });
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.err, AnyOf(HasSubstr("node 2 is lost: nothing has been heard of it for 5 s"),
                               HasSubstr("could not be reached for 5000 ms")))
      << "whichever plane was first";
}

TEST_F(several_processes, take_back_one_that_was_silent) {
  for (const auto& job :
       {words{"--algorithm", "all-reduce-sgd"}, words{"--algorithm", "ad-psgd", "--topology", "star"}}) {
    SCOPED_TRACE(job[1]);
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = disturbed({"--patience", "5"}, job, [](auto& run) {
      run.when(is_under_way, [](const auto& so_far) { kill(process_of(2, so_far), SIGSTOP); })
          .when("node 2 is lost", [](const auto& so_far) { kill(process_of(2, so_far), SIGCONT); })
          .signal_after("worker 2 comes back", SIGINT);
    });
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("node 2 is heard again"));
    EXPECT_GE(json::parse(read("run/summary.json"))["returned"], 1);
  }
}

TEST_F(several_processes, go_on_when_their_leader_is_killed) {
  for (const auto& job : {words{"--algorithm", "d-psgd"}, words{"--algorithm", "asy-lpg"},
                          words{"--algorithm", "ad-psgd", "--islands", "2,1"}}) {
    SCOPED_TRACE(job[1]);
    std::filesystem::remove_all(folder_ / "run");
    const auto ended = disturbed({"--restart", "1"}, job, [](auto& run) {
      run.when(is_under_way, [](const auto& so_far) { kill(leader_of(so_far), SIGKILL); })
          .signal_after("worker 0 comes back", SIGINT);
    });
    EXPECT_EQ(ended.status, 130) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("[0 localhost] was killed by signal 9 (Killed); it has led the run"),
                      HasSubstr("node 0 is lost: its process is gone"), HasSubstr("leads the run from now on"),
                      HasSubstr("[0 localhost] is started again"), HasSubstr("node 0 is back")));
    EXPECT_THAT(ended.out, HasSubstr("interrupted"));
    EXPECT_EQ(json::parse(read("run/summary.json"))["end"], "interrupted");
    EXPECT_GT(json::parse(read("run/summary.json"))["returned"], 0);
  }
}

TEST_F(several_processes, let_one_leave_that_has_led_and_does_not_any_more) {
  std::filesystem::remove_all(folder_ / "run");
  const auto ended = disturbed({"--patience", "5"}, {"--algorithm", "ad-psgd"}, [](auto& run) {
    // Node 0 leads, then node 1; both come back.
    run.when(is_under_way, [](const auto& so_far) { kill(leader_of(so_far), SIGSTOP); })
        .then("worker 0 is lost", [](const auto& so_far) { kill(leader_of(so_far), SIGCONT); })
        .then("worker 0 comes back", [](const auto& so_far) { kill(process_of(1, so_far), SIGSTOP); })
        .then("worker 1 is lost", [](const auto& so_far) { kill(process_of(1, so_far), SIGCONT); })
        .then("worker 1 comes back", [](const auto& so_far) { kill(process_of(1, so_far), SIGTERM); })
        .then("[1 localhost] gossamer: this node has left", SIGINT);
  });
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("interrupted"));
  EXPECT_EQ(metrics().back()["step"], json::parse(read("run/summary.json"))["step"]) << "node 0 has led again";
  EXPECT_THAT(read("run/events.jsonl"), AllOf(HasSubstr("node 1 leads"), HasSubstr("worker 1 comes back")));
}

TEST_F(several_processes, end_when_most_of_them_are_killed) {
  const auto ended = disturbed({}, {"--algorithm", "d-psgd"}, [](auto& run) {
    run.when(is_under_way, [&run](const auto& so_far) { kill_at_once({0, 1}, run, so_far); });
  });
  EXPECT_EQ(ended.status, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("are lost"));
  EXPECT_FALSE(exists("run/summary.json"));
}

TEST_F(several_processes, can_be_started_by_hand) {
  support::outcome joined;
  support::subprocess leader(
      words{"env", "-C", folder_.string()}
      + gossamer(words{"node", "--listen", "127.0.0.1:0", "--"} + small + words{"--out", "run"}));
  leader.when("--join", [&](const support::outcome& so_far) {
    const auto address = so_far.err.substr(so_far.err.find("--join ") + 7);
    // The node ends after the leader, and the outer loop reads the leader's output meanwhile.
    joined = support::subprocess(gossamer({"node", "--join", address.substr(0, address.find('\n'))})).finish();
  });
  const auto led = leader.finish();
  EXPECT_EQ(led.status, 0) << led.err;
  EXPECT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err, AllOf(HasSubstr("this is node 1"), HasSubstr("the run is over")));
  EXPECT_TRUE(exists("run/summary.json"));
}

TEST_F(several_processes, do_not_wait_for_a_leader_that_is_stopped_before_the_run_begins) {
  support::outcome joined;
  support::subprocess leader(words{"env", "-C", folder_.string()}
                             + gossamer({"node", "--listen", "127.0.0.1:0", "--nodes", "3", "--", "train"}));
  leader.when("--join", [&](const support::outcome& so_far) {
    const auto address = so_far.err.substr(so_far.err.find("--join ") + 7);
    joined = support::subprocess(gossamer({"node", "--join", address.substr(0, address.find('\n')), "--patience", "4"}))
                 .when("this is node 1", [&](const auto&) { leader.send_signal(SIGSTOP); })
                 .finish();
    leader.send_signal(SIGKILL);
  });
  EXPECT_EQ(leader.finish().status, 128 + SIGKILL);
  EXPECT_EQ(joined.status, 1);
  EXPECT_THAT(joined.err, AllOf(HasSubstr("nothing has been heard of the leader for 4 s"), HasSubstr("--patience")));
}

class tasks_of_slurm : public several_processes {
protected:
  /// Returns the command of task `task` of two, as srun starts it. The job number determines the port where they meet.
  words of(int job, int task, const words& flags) const {
    return words{"env",
                 "-C",
                 folder_.string(),
                 "GOSSAMER_TOKEN=0123456789abcdef",
                 "SLURM_PROCID=" + std::to_string(task),
                 "SLURM_NTASKS=2",
                 "SLURM_JOB_ID=" + std::to_string(job),
                 "SLURM_STEP_ID=0",
                 "SLURM_STEP_NODELIST=127.0.0.[1-2]"}
           + gossamer(words{"node", "--slurm"} + flags);
  }
};

TEST_F(tasks_of_slurm, train) {
  const auto job = words{"--"} + small + words{"--out", "run"};
  support::subprocess second(of(getpid(), 1, job)), first(of(getpid(), 0, job));
  const auto led = first.finish(), joined = second.finish();
  EXPECT_EQ(led.status, 0) << led.err;
  EXPECT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err, HasSubstr("this is node 1"));
  EXPECT_TRUE(exists("run/summary.json"));
}

// All tasks are told to end, the leader last. The other task does not leave before that.
TEST_F(tasks_of_slurm, end_together) {
  const auto job = words{"--patience", "100"} + endless + words{"--algorithm", "d-psgd", "--workers", "2"};
  support::subprocess second(of(getpid() + 1, 1, job)), first(of(getpid() + 1, 0, job));
  first.when("epoch   0", [&](const auto&) { second.send_signal(SIGTERM); }).signal_after("epoch  5", SIGTERM);
  const auto led = first.finish(), joined = second.finish();
  EXPECT_EQ(led.status, 128 + SIGTERM) << led.err;
  EXPECT_THAT(led.out, AllOf(HasSubstr("interrupted"), Not(HasSubstr("has left"))));
  EXPECT_EQ(joined.status, 0) << joined.err;
  EXPECT_THAT(joined.err, HasSubstr("the run is over"));
  EXPECT_EQ(json::parse(read("run/summary.json"))["lost"], 0);
}

TEST_F(several_processes, say_which_commands_start_them) {
  write("hosts.toml", "[[host]]\nhost = 'a'\naddress = '10.0.0.1'\nslots = 2\n\n"
                      "[[host]]\nhost = 'b'\nuser = 'me'\nport = 2222\nbinary = '/opt/my gossamer'\n"
                      "directory = '/tmp/work'\ndevice = 'cuda:0'\nenvironment = ['A=1', 'B=x y']\n");
  const auto ended =
      run({"launch", "--hosts", "hosts.toml", "--insecure", "--dry-run", "--", "train", "--algorithm", "cser"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("ssh -o BatchMode=yes a 'exec gossamer node --listen 10.0.0.1:0 --nodes 3 "));
  EXPECT_THAT(ended.out, HasSubstr("-- train --algorithm cser --workers 3'\n"));
  EXPECT_THAT(ended.out, HasSubstr("ssh -o BatchMode=yes -p 2222 me@b 'cd /tmp/work && exec env A=1 "));
  EXPECT_THAT(ended.out, HasSubstr("--join 10.0.0.1:PORT --number 2 "));
  EXPECT_FALSE(exists("runs"));
}

TEST_F(several_processes, make_islands_of_their_hosts) {
  const auto islands_of = [&](const std::string& hosts, words job) {
    write("hosts.toml", hosts);
    words line{"launch", "--hosts", "hosts.toml", "--insecure", "--dry-run", "--", "train", "--algorithm", "diloco"};
    line.insert(line.end(), job.begin(), job.end());
    const auto ended = run(line);
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto at = ended.out.find("--islands");
    return ended.out.substr(at, ended.out.find('\'', at) - at);
  };
  const std::string two = "[[host]]\nhost = 'a'\naddress = '10.0.0.1'\nslots = 2\n\n[[host]]\nhost = 'b'\n";
  EXPECT_EQ(islands_of(two, {"--islands", "hosts"}), "--islands 2,1");
  EXPECT_EQ(islands_of(two, {"--islands=hosts", "--workers", "7"}), "--islands 4,3");
  EXPECT_EQ(islands_of("[[host]]\nhost = 'a'\naddress = '10.0.0.1'\nslots = 3\n", {"--islands", "hosts"}),
            "--islands 1");
  EXPECT_EQ(islands_of(two, {"--islands", "3"}), "--islands 3 --workers 3");
}

TEST_F(several_processes, may_be_programs_that_find_the_words_of_their_node) {
  write("hosts.toml", "[[host]]\nhost = 'a'\naddress = '10.0.0.1'\nenvironment = ['A=1']\nbinary = 'not this'\n\n"
                      "[[host]]\nhost = 'localhost'\n");
  const auto ended = run({"launch", "--hosts", "hosts.toml", "--insecure", "--dry-run", "--", "python", "my train.py"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto end = ended.out.find('\n');
  const auto leader = ended.out.substr(0, end), other = ended.out.substr(end + 1);
  EXPECT_THAT(leader, HasSubstr("exec env A=1 env PYTHONUNBUFFERED=1 "));
  EXPECT_THAT(leader, HasSubstr("GOSSAMER_NODE=node --listen 10.0.0.1:0 --nodes 2 --announce"));
  EXPECT_THAT(leader, HasSubstr("-- train --workers 2"));
  EXPECT_THAT(leader, HasSubstr("my train.py"));
  EXPECT_THAT(other, StartsWith("env PYTHONUNBUFFERED=1 'GOSSAMER_NODE=node --join 10.0.0.1:PORT --number 1 "));
  EXPECT_THAT(other, EndsWith("python 'my train.py'\n"));
}

TEST_F(several_processes, say_when_the_program_is_not_there) {
  const auto ended = run({"launch", "--hosts", "localhost:2", "--", "no-such-program"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("ended with status 127"), HasSubstr("no-such-program"),
                               HasSubstr("No such file or directory")));
}

TEST_F(several_processes, are_started_through_something_else_than_ssh) {
  const std::string alpha = "[[host]]\nhost = 'alpha'\naddress = '10.0.0.1'\nthrough = ['ip', 'netns', 'exec', 'a b', "
                            "'sh', '-c']\n";
  write("hosts.toml", alpha + "directory = '/tmp'\n\n[[host]]\nhost = 'localhost'\nthrough = 'sudo sh'\n");
  const words launch{"launch", "--hosts", "hosts.toml", "--insecure", "--dry-run", "--", "train"};
  const auto ended = run(launch);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("ip netns exec 'a b' sh -c 'cd /tmp && exec gossamer node --listen 10.0.0.1:0 "));
  EXPECT_THAT(ended.out, HasSubstr("\n'sudo sh' 'exec gossamer node --join 10.0.0.1:PORT --number 1 "));
  for (const char* of_ssh : {"user = 'me'\n", "port = 22\n"}) {
    write("hosts.toml", alpha + of_ssh);
    const auto refused = run(launch);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("hosts.toml:1: both "), HasSubstr("through"), HasSubstr("leave one")));
  }
}

TEST_F(several_processes, are_launched_from_the_file_that_the_documentation_shows) {
  std::ifstream page(GOSSAMER_SOURCE_DIR "/docs/clusters.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}}, fence = "```toml\n";
  const auto begin = text.find(fence) + fence.size();
  write("hosts.toml", text.substr(begin, text.find("```", begin) - begin));
  const auto ended = run({"launch", "--hosts", "hosts.toml", "--certs", "certs", "--dry-run", "--", "train"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("trainer@beta"));
}

} // namespace
} // namespace gossamer
