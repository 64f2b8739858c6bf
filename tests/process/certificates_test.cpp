// gossamer certs, and runs whose nodes show certificates.
#include <sys/stat.h>

#include "command.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class certificates : public command {
protected:
  support::outcome make(const words& flags) const { return run(words{"certs"} + flags); }
};

TEST_F(certificates, are_made_in_folders_for_hosts) {
  const auto ended = make({"--out", "own", "--hosts", "node-1,192.0.2.7"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("own/authority.crt is a new authority"), HasSubstr("own/node-1 is for"),
                               HasSubstr("own/192.0.2.7 is for")));
  for (const char* key : {"own/authority.key", "own/node-1/node.key", "own/192.0.2.7/node.key"}) {
    struct stat about {};
    ASSERT_EQ(stat((folder_ / key).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U) << key;
  }
  const auto more = make({"--out", "own", "--hosts", "node-2"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_THAT(more.out, HasSubstr("own/authority.crt has signed"));
  EXPECT_EQ(read("own/node-2/authority.crt"), read("own/node-1/authority.crt"));
}

TEST_F(certificates, are_not_replaced_unless_that_is_said) {
  ASSERT_EQ(make({"--hosts", "a"}).status, 0);
  const auto first = read("certs/a/node.crt");
  const auto again = make({"--hosts", "b,a"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("certs/a/node.crt is there already"), HasSubstr("--overwrite")));
  EXPECT_FALSE(exists("certs/b"));
  EXPECT_EQ(read("certs/a/node.crt"), first);
  EXPECT_EQ(make({"--hosts", "a", "--overwrite"}).status, 0);
  EXPECT_NE(read("certs/a/node.crt"), first);
}

TEST_F(certificates, are_for_hosts_only) {
  for (const char* hosts : {"a,,b", "a:4000", "../a", ",", "a b"}) {
    const auto ended = make({"--hosts", hosts});
    EXPECT_EQ(ended.status, 2) << hosts;
    EXPECT_THAT(ended.err, HasSubstr("is neither the name of a host nor an address")) << hosts;
  }
  EXPECT_THAT(make({"--hosts", ""}).err, HasSubstr("--hosts is empty; give it a value"));
  EXPECT_EQ(make({}).status, 2);
  EXPECT_EQ(make({"--hosts", "a", "--days", "0"}).status, 2);
  EXPECT_FALSE(exists("certs"));
}

TEST_F(certificates, need_a_folder_that_can_be_written_to) {
  write("file", "");
  const auto ended = make({"--out", "file/own", "--hosts", "a"});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("cannot write file/own"), HasSubstr("choose a folder")));
}

TEST_F(certificates, let_nodes_train_as_one_process_does) {
  ASSERT_EQ(make({"--hosts", "localhost,127.0.0.1"}).status, 0);
  const auto job = small + words{"--algorithm", "d-psgd", "--workers", "3"};
  ASSERT_EQ(run(job + words{"--out", "one"}).status, 0);
  auto one = json::parse(read("one/summary.json"));
  one.erase("time_s");
  for (const char* name : {"127.0.0.1", "localhost"}) { // the leader does not listen at the address of the latter
    SCOPED_TRACE(name);
    const auto ended = run(words{"launch", "--hosts", "localhost:3", "--certs", std::string{"certs/"} + name, "--"}
                           + job + words{"--overwrite", "--out", "several"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    auto several = json::parse(read("several/summary.json"));
    several.erase("time_s");
    EXPECT_EQ(several, one);
  }
}

TEST_F(certificates, allow_addresses_that_others_reach) {
  ASSERT_EQ(make({"--hosts", "10.0.0.1"}).status, 0);
  write("hosts.toml", "[[host]]\nhost = 'a'\naddress = '10.0.0.1'\ncerts = '/etc/a'\n\n[[host]]\nhost = 'b'\n");
  const auto job = words{"--dry-run", "--", "train"};
  const auto ended = run(words{"launch", "--hosts", "hosts.toml", "--certs", "certs/10.0.0.1"} + job);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("--certs /etc/a"), HasSubstr("--certs certs/10.0.0.1")));
  const auto half = run(words{"launch", "--hosts", "hosts.toml"} + job);
  EXPECT_EQ(half.status, 2);
  EXPECT_THAT(half.err, HasSubstr("a has certificates, and b has none"));
  const auto without = run({"node", "--join", "10.0.0.1:4000"});
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, AllOf(HasSubstr("nothing is encrypted"), HasSubstr("--certs")));
}

TEST_F(certificates, are_looked_at_before_anything_else) {
  const auto missing = run({"node", "--join", "127.0.0.1:1", "--certs", "certs/a"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("certs/a/node.crt"));
  ASSERT_EQ(make({"--hosts", "a"}).status, 0);
  write("certs/a/node.key", "nonsense");
  const auto damaged = run({"node", "--join", "127.0.0.1:1", "--certs", "certs/a"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("certs/a/node.key is no private key"), HasSubstr("gossamer certs")));
}

} // namespace
} // namespace gossamer
