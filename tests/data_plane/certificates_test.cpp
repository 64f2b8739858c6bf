#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include "data_plane/certificates.hpp"
#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using test::refusal_of;
using testing::HasSubstr;

std::string read(const std::filesystem::path& where) {
  std::ifstream in(where, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

::mode_t mode_of(const std::filesystem::path& where) {
  struct stat about {};
  EXPECT_EQ(stat(where.c_str(), &about), 0) << where;
  return about.st_mode & 0777U;
}

class certificate_folder : public testing::Test {
protected:
  written_certificates make(std::vector<std::string> hosts, bool overwrite = false) const {
    return write_certificates({.folder = folder, .hosts = std::move(hosts), .overwrite = overwrite});
  }

  test::scratch_folder scratch;
  std::filesystem::path root = scratch.path(), folder = root / "certs";
};

TEST_F(certificate_folder, has_what_each_host_needs_and_hides_keys) {
  const std::vector<std::string> hosts{"node-1.example.org", "192.0.2.7", "2001:db8::7", std::string(63, 'a') + ".b"};
  const auto made = make(hosts);
  EXPECT_TRUE(made.new_authority);
  ASSERT_EQ(made.folders.size(), hosts.size());
  EXPECT_EQ(mode_of(folder / authority_key), 0600U);
  for (std::size_t k = 0; k < hosts.size(); ++k) {
    EXPECT_EQ(made.folders[k], folder / hosts[k]);
    EXPECT_EQ(mode_of(folder / hosts[k] / node_key), 0600U);
    EXPECT_EQ(read(folder / hosts[k] / authority_certificate), read(folder / authority_certificate));
    const tls_identity identity{folder / hosts[k]};
    identity.require_valid();
    EXPECT_EQ(identity.name_for(hosts[k]), hosts[k]);
    EXPECT_EQ(identity.name_for("0.0.0.0"), hosts[k] == "2001:db8::7" ? "2001:db8::7" : hosts[k]);
  }
}

TEST_F(certificate_folder, gives_more_hosts_certificates_of_the_same_authority) {
  make({"a"});
  const auto authority = read(folder / authority_certificate), first = read(folder / "a" / node_certificate);
  EXPECT_FALSE(make({"b"}).new_authority);
  EXPECT_EQ(read(folder / authority_certificate), authority);
  EXPECT_EQ(read(folder / "a" / node_certificate), first);
  tls_identity{folder / "b"}.require_valid();
}

TEST_F(certificate_folder, replaces_nothing_unless_asked_to) {
  make({"a"});
  const auto first = read(folder / "a" / node_certificate), authority = read(folder / authority_certificate);
  EXPECT_THAT(refusal_of([&] { make({"b", "a"}); }, errc::usage), HasSubstr("a/node.crt is there already"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b")) << "an order that is refused writes nothing";
  EXPECT_EQ(read(folder / "a" / node_certificate), first);
  make({"a"}, true);
  EXPECT_NE(read(folder / "a" / node_certificate), first);
  EXPECT_EQ(read(folder / authority_certificate), authority);
  tls_identity{folder / "a"}.require_valid();
}

TEST_F(certificate_folder, says_what_is_wrong_with_an_order) {
  for (const char* host : {"", "a b", "..", "a/b", "-a", "a.", "1.2.3.4:80", "a,b", "[::1]", "fe80::1%eth0"})
    EXPECT_THAT(refusal_of([&] { make({host}); }, errc::usage),
                HasSubstr("is neither the name of a host nor an address"));
  EXPECT_THAT(refusal_of([&] { make({}); }, errc::usage), HasSubstr("no hosts"));
  EXPECT_FALSE(std::filesystem::exists(folder));
  test::write_text(root / "file", "");
  folder = root / "file" / "certs";
  EXPECT_THAT(refusal_of([&] { make({"a"}); }, errc::io), HasSubstr("cannot write"));
}

TEST_F(certificate_folder, needs_both_halves_of_an_authority) {
  make({"a"});
  std::filesystem::rename(folder / authority_key, root / "elsewhere");
  EXPECT_THAT(refusal_of([&] { make({"b"}); }, errc::bad_data), HasSubstr("authority.key is not"));
  test::write_text(folder / authority_key, make_authority().key);
  EXPECT_THAT(refusal_of([&] { make({"b"}); }, errc::bad_data), HasSubstr("do not belong together"));
  test::write_text(folder / authority_certificate, "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n");
  EXPECT_THAT(refusal_of([&] { make({"b"}); }, errc::bad_data), HasSubstr("damaged"));
}

TEST_F(certificate_folder, makes_no_authorities_of_members) {
  make({"a"});
  const key_pair member{read(folder / "a" / node_certificate), read(folder / "a" / node_key)};
  EXPECT_THAT(refusal_of([&] { make_member(member, "b"); }, errc::bad_data), HasSubstr("authority"));
}

TEST_F(certificate_folder, is_looked_at_when_it_is_read) {
  make({"a", "b"});
  const auto problem = [&] { return refusal_of([&] { tls_identity{folder / "a"}; }, errc::bad_data); };
  EXPECT_THAT(refusal_of([&] { tls_identity{folder / "c"}; }, errc::io), HasSubstr("c/node.crt"));
  test::write_text(folder / "a" / node_key, read(folder / "b" / node_key));
  EXPECT_THAT(problem(), HasSubstr("is not the key of the certificate beside it"));
  test::write_text(folder / "a" / node_key, "nonsense");
  EXPECT_THAT(problem(), HasSubstr("node.key is no private key"));
  test::write_text(folder / "a" / node_certificate, "nonsense");
  EXPECT_THAT(problem(), HasSubstr("node.crt is no certificate"));
}

TEST_F(certificate_folder, says_what_others_would_object_to) {
  test::certificates ours, others;
  EXPECT_THAT(refusal_of([&] { ours.identity("a", test::expired)->require_valid(); }, errc::bad_data),
              HasSubstr("node.crt has expired"));
  EXPECT_THAT(refusal_of([&] { ours.believer(others)->require_valid(); }, errc::bad_data),
              HasSubstr("node.crt is not of this authority"));
}

} // namespace
} // namespace gossamer::actors
