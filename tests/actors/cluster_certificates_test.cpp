// Runs among nodes with certificates, and strangers.
#include "gossamer/actors/real_time/local_world.hpp"

#include "cluster.hpp"
#include "data_plane/certificates.hpp"
#include "data_plane/raw_connection.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

TEST(cluster_with_certificates, comes_to_what_it_comes_to_in_one_process_and_hears_no_strangers) {
  const auto e = prepare(small_run("d-psgd"));
  recorder here;
  run_locally(e, {.observer = &here});
  test::certificates authority;
  cluster nodes{{{.shows = {authority.identity("localhost")}}, {.shows = {authority.identity()}}}};
  nodes.shows = {authority.identity()};
  struct observer final : run_observer {
    explicit observer(const cluster& c) : all(c) {}
    void on_evaluation(const evaluation_record& r) override {
      records.push_back(r);
      for (std::uint8_t k = 0; k < 10; ++k) {
        strangers.emplace_back(all.port);
        strangers.back().send(std::vector(100U * k, std::byte{k}));
      }
    }
    const cluster& all;
    std::vector<evaluation_record> records;
    std::vector<test::raw_connection> strangers;
  } across{nodes};
  const auto summary = nodes.run(e, {.observer = &across});
  EXPECT_THAT(nodes.ends(), testing::Each(""));
  EXPECT_EQ(summary.lost, 0u);
  expect_alike(across.records, here.records);
}

/// Returns the error of a node that shows one identity to a leader with another.
std::string end_of_stranger(std::shared_ptr<const tls_identity> leader, std::shared_ptr<const tls_identity> stranger) {
  cluster nodes{{{.shows = {std::move(stranger)}, .wait = {}}}};
  nodes.shows.identity = std::move(leader);
  nodes.ends_without_joiners = true;
  EXPECT_THROW(nodes.run(prepare(small_run("d-psgd"))), error) << "nobody has come";
  EXPECT_THAT(nodes.said(), testing::IsEmpty());
  return nodes.ends()[1];
}

TEST(cluster_with_certificates, lets_nobody_in_without_one_of_its_authority) {
  test::certificates ours, others;
  EXPECT_THAT(end_of_stranger(ours.identity(), ours.believer(others)),
              HasSubstr("it says that this node's certificate is not of its authority"));
  EXPECT_THAT(end_of_stranger(ours.identity(), ours.identity("127.0.0.1", test::expired)),
              HasSubstr("it says that this node's certificate has expired"));
  EXPECT_THAT(end_of_stranger(ours.identity(), nullptr),
              HasSubstr("as a leader that asks for certificates or a token does"));
}

TEST(cluster_with_certificates, joins_nobody_without_one_of_its_authority_for_that_host) {
  test::certificates ours, others;
  EXPECT_THAT(end_of_stranger(others.identity(), ours.identity()),
              HasSubstr("it shows a certificate that is not of this authority"));
  EXPECT_THAT(end_of_stranger(ours.identity("127.0.0.1", test::expired), ours.identity()),
              HasSubstr("it shows a certificate that has expired"));
  EXPECT_THAT(end_of_stranger(ours.identity("192.0.2.7"), ours.identity()),
              HasSubstr("it shows a certificate that is for another host"));
  EXPECT_THAT(end_of_stranger(nullptr, ours.identity()),
              testing::AnyOf(HasSubstr("it does not speak TLS"), HasSubstr("as a node without certificates does")))
      << "whoever speaks first";
}

TEST(cluster_with_certificates, goes_on_when_a_node_leaves) {
  auto settings = small_run("all-reduce-sgd");
  settings.epochs = 1e6; // runs until the others have trained on for a while
  settings.eval_every = 1;
  event_watch seen{"lost"};
  test::certificates authority;
  cluster nodes{{{.shows = {authority.identity()}},
                 {.leaves = [&] { return seen.begun.load(); }, .shows = {authority.identity()}}}};
  nodes.shows = {authority.identity()};
  const auto summary =
      nodes.run(prepare(settings), {.observer = &seen, .interrupted = [&] { return seen.gone_on.load(); }});
  EXPECT_GE(summary.lost, 1u);
  EXPECT_THAT(nodes.ends()[1], "");
  EXPECT_THAT(nodes.ends()[2], HasSubstr("interrupted"));
}

} // namespace
} // namespace gossamer::actors
