// gossamer measure, and simulations with its file.
#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class measured_hosts : public command {
protected:
  /// Returns a host that is this machine under another name.
  static std::string host(const std::string& name, const std::string& more = "") {
    return "[[host]]\nhost = '" + name + "'\naddress = '127.0.0.1'\nthrough = ['sh', '-c']\nbinary = '"
           + GOSSAMER_COMMAND + "'\n" + more + "\n";
  }
  static inline const words job{"--", "train", "--data", "digits:samples=600,test=200"};
};

TEST_F(measured_hosts, are_written_again_with_what_was_found) {
  write("hosts.toml", host("alpha") + host("beta", "slots = 2\nenvironment = ['A=1', 'B=x y']\n"));
  const auto ended = run(words{"measure", "--hosts", "hosts.toml"} + job);
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("latency ms"), HasSubstr("measured.toml has the same hosts")));
  const auto launched = [&](const std::string& hosts) {
    return run(words{"launch", "--hosts", hosts, "--dry-run"} + job).out;
  };
  EXPECT_EQ(launched("measured.toml"), launched("hosts.toml"));
  EXPECT_THAT(launched("measured.toml"), HasSubstr("--nodes 3"));
  const auto again = run({"measure", "--hosts", "measured.toml", "--out", "again.toml"});
  EXPECT_EQ(again.status, 0) << again.err;

  const auto predicted = run(words{"simulate", "--network", "hosts:file=measured.toml", "--algorithm", "d-psgd",
                                   "--epochs", "1", "--out", "run"});
  EXPECT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(json::parse(read("run/summary.json"))["workers"], 3);
}

TEST_F(measured_hosts, have_no_links_where_there_is_one) {
  const auto ended = run(words{"measure", "--hosts", "localhost:2"} + job);
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("us a sample"), testing::Not(HasSubstr("latency ms"))));
}

TEST_F(measured_hosts, are_not_lost_where_there_is_no_room) {
  const auto hosts = "# mine\n" + host("alpha") + host("beta");
  write("hosts.toml", hosts);
  const auto ended = execute(words{"sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\""}
                             + gossamer({"measure", "--hosts", "hosts.toml", "--out", "hosts.toml"})
                             + words{"--no-shared-memory"} + job);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot write hosts.toml: File too large; choose another file with --out"));
  EXPECT_EQ(read("hosts.toml"), hosts);
}

TEST_F(measured_hosts, are_not_asked_before_there_is_a_place_for_what_they_say) {
  write("hosts.toml", "[[host]]\nhost = 'alpha'\naddress = '127.0.0.1'\nthrough = ['sh', '-c']\nbinary = 'no-such'\n");
  const auto ended = run(words{"measure", "--hosts", "hosts.toml", "--out", "no/such/folder"} + job);
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, HasSubstr("cannot write no/such/folder; choose another file with --out"));
}

TEST_F(measured_hosts, are_refused_in_one_sentence) {
  const auto expect = [&](const std::string& hosts, int status, const words& said) {
    write("hosts.toml", hosts);
    const auto ended = run({"measure", "--hosts", "hosts.toml"});
    EXPECT_EQ(ended.status, status) << ended.err;
    for (const auto& one : said)
      EXPECT_THAT(ended.err, HasSubstr(one));
    EXPECT_FALSE(exists("measured.toml"));
  };
  expect(host("alpha") + host("alpha"), 2, {"two hosts of hosts.toml are called alpha", "its slots"});
  expect(host("alpha") + "[[host]]\nhost = 'beta'\naddress = '10.0.0.1'\n", 2, {"cannot reach 127.0.0.1"});
  expect(host("alpha") + "[[host]]\nhost = 'beta'\naddress = '127.0.0.1'\nthrough = 'no-such-program'\n", 1,
         {"beta ended before it answered 'run'", "no-such-program: No such file", "its command was no-such-program"});
  const auto wrong = run({"measure", "--hosts", "hosts.toml", "--", "train", "--algoritm", "x"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean --algorithm?"));
}

TEST_F(measured_hosts, are_not_waited_for_without_end) {
  const auto expect = [&](const std::string& script, const std::string& wait_s, const std::string& said) {
    for (const char* name : {"alpha", "beta"})
      write(std::string{name} + ".toml", std::string{"[[host]]\nhost = '"} + name
                                             + "'\naddress = '127.0.0.1'\nthrough = ['sh', '-c', '" + script + "']\n");
    write("hosts.toml", read("alpha.toml") + read("beta.toml"));
    const auto ended = run({"measure", "--hosts", "hosts.toml", "--wait", wait_s});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(said), HasSubstr("its command was sh -c")));
    EXPECT_FALSE(exists("measured.toml"));
  };
  expect("cat", "0.2", "alpha has not answered 'run' within 0.2 s"); // hangs like an ssh
  expect("read run; echo listening on 127.0.0.1:1; exec cat > /dev/null", "5",
         "alpha has not answered 'meet' within 5 s: listening on 127.0.0.1:1");
}

} // namespace
} // namespace gossamer
