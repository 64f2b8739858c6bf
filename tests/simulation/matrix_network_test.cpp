#include "gossamer/actors/simulation/network.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

#include "expect.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;
using testing_support::refusal;

/// A file that is removed with the object.
class matrix_file {
public:
  explicit matrix_file(std::string_view text) : path_(testing::TempDir() + "gossamer_network.csv") {
    std::ofstream{path_} << text;
  }
  matrix_file(const matrix_file&) = delete;
  matrix_file& operator=(const matrix_file&) = delete;
  ~matrix_file() { std::remove(path_.c_str()); }

  std::shared_ptr<const network> read(std::size_t nodes) const { return make_network("matrix:file=" + path_, nodes); }

private:
  std::string path_;
};

void expect_link(const network& net, rank from, rank to, const link_quality& expected) {
  const auto link = net.link(from, to);
  EXPECT_DOUBLE_EQ(link.latency_s, expected.latency_s) << from << " to " << to;
  EXPECT_DOUBLE_EQ(link.bits_per_second, expected.bits_per_second) << from << " to " << to;
  EXPECT_DOUBLE_EQ(link.jitter_s, expected.jitter_s) << from << " to " << to;
}

TEST(matrix_network, has_the_links_of_the_file) {
  const matrix_file file{"from,to,latency_ms,mbit_per_s,jitter_ms\n"
                         "# both directions\n"
                         "0,1,10,100\n"
                         "\n"
                         " 0 , 2 , 20 , 200 , 3 \r\n"
                         "2,0,30,inf # and back\n"
                         "*,*,1.5,50,0.5"};
  const auto net = file.read(4);
  expect_link(*net, 0, 1, {0.01, 100e6, 0});
  expect_link(*net, 1, 0, {0.01, 100e6, 0});
  expect_link(*net, 0, 2, {0.02, 200e6, 0.003});
  expect_link(*net, 2, 0, {0.03, std::numeric_limits<double>::infinity(), 0});
  expect_link(*net, 1, 2, {0.0015, 50e6, 0.0005});
  EXPECT_DOUBLE_EQ(net->card(0).send, 200e6);
  EXPECT_EQ(net->card(0).receive, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(net->card(3).send, 50e6);
}

TEST(matrix_network, reads_blanks_in_place_of_commas_and_directions_in_any_order) {
  const matrix_file file{"1 0 10 100\n0\t1  20 200 2\n"};
  const auto net = file.read(2);
  expect_link(*net, 1, 0, {0.01, 100e6, 0});
  expect_link(*net, 0, 1, {0.02, 200e6, 0.002});
  EXPECT_DOUBLE_EQ(net->card(0).send, 200e6); // no default takes part
  EXPECT_DOUBLE_EQ(net->card(0).receive, 100e6);
}

TEST(matrix_network, needs_no_line_for_a_single_node) { EXPECT_NE(matrix_file{""}.read(1), nullptr); }

TEST(matrix_network, takes_overrides) {
  const matrix_file file{"*,*,10,100\n"};
  const auto net = make_network("matrix:file=" + testing::TempDir() + "gossamer_network.csv", 3,
                                parse_link_overrides("0-1:latency=0.5"));
  EXPECT_EQ(net->link(0, 1).latency_s, 0.5);
  EXPECT_DOUBLE_EQ(net->link(0, 1).bits_per_second, 100e6);
  EXPECT_DOUBLE_EQ(net->link(0, 2).latency_s, 0.01);
}

TEST(matrix_network, names_the_file_and_the_line_of_what_is_wrong) {
  const auto message = [](std::string_view text) {
    const matrix_file file{text};
    return refusal([&] { file.read(4); }, errc::bad_data);
  };
  EXPECT_THAT(message("0,1,1,1\n0,2,1\n"), HasSubstr("gossamer_network.csv:2: a line has 3 columns; write from,to,"));
  EXPECT_THAT(message("0,1,1,1,1,1\n"), HasSubstr("6 columns"));
  EXPECT_THAT(message("0,4,1,1\n"),
              HasSubstr(":1: '4' is not the number of a node; with 4 nodes the numbers are 0 to 3"));
  EXPECT_THAT(message("0,*,1,1\n"), HasSubstr("'*' is not the number of a node"));
  EXPECT_THAT(message("0,,1,1\n"), HasSubstr("'' is not the number of a node"));
  EXPECT_THAT(message("#\n1,1,1,1\n"), HasSubstr(":2: node 1 is joined to itself"));
  EXPECT_THAT(message("0,1,1,1\n1,0,1,1\n0,1,2,2\n"), HasSubstr(":3: line 1 says already how 0 reaches 1"));
  EXPECT_THAT(message("*,*,1,1\n*,*,1,1\n"), HasSubstr(":2: there is a second line for all other links"));
  EXPECT_THAT(message("0,1,-1,1\n"), HasSubstr(":1: latency_ms is -1, which is out of range; allowed: 0 to"));
  EXPECT_THAT(message("0,1,1,0\n"), HasSubstr("mbit_per_s is 0, which is out of range"));
  EXPECT_THAT(message("0,1,1,1,x\n"), HasSubstr(":1: jitter_ms is 'x', which is not a number"));
  EXPECT_THAT(message("0,1,1,1\nfrom,to,latency_ms,mbit_per_s\n"), HasSubstr(":2: "));
  EXPECT_THAT(
      message("0,1,1,1\n0,2,1,1\n0,3,1,1\n1,2,1,1\n1,3,1,1\n"),
      HasSubstr("gossamer_network.csv: nothing says how 2 reaches 3; add the line, or one for all other links"));
}

TEST(matrix_network, says_why_a_file_cannot_be_read) {
  EXPECT_THAT(refusal([] { make_network("matrix:file=no/such/file", 2); }, errc::io),
              HasSubstr("cannot read the network file 'no/such/file': No such file or directory"));
  EXPECT_THAT(refusal([] { make_network("matrix:file=" + testing::TempDir(), 2); }, errc::io), HasSubstr("directory"));
  EXPECT_THAT(refusal([] { make_network("matrix", 2); }), HasSubstr("network 'matrix' needs file"));
}

} // namespace
} // namespace gossamer::actors
