// Runs among nodes that share a token, and strangers: with nonsense, with another token, with recorded messages.
#include "gossamer/actors/cluster/cluster_client.hpp"
#include "gossamer/actors/data_plane/control_guard.hpp"
#include "gossamer/actors/data_plane/token_handshake.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <fstream>
#include <unistd.h>

#include "cluster.hpp"
#include "data_plane/raw_connection.hpp"
#include "data_plane/support.hpp"

namespace gossamer::actors {
namespace {

using asio::ip::tcp;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;

/// Returns the bytes of this process's memory that are resident.
std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Carries one connection to a port of this machine, and keeps the bytes that its opener sends.
class eavesdropper {
public:
  explicit eavesdropper(std::uint16_t port) : acceptor_(io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}) {
    thread_ = std::jthread{[this, port] { carry(port); }};
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Returns the recorded bytes. Blocks until both ends have hung up.
  std::vector<std::byte> heard() {
    thread_.join();
    return heard_;
  }

private:
  void carry(std::uint16_t port) {
    tcp::socket near{io_}, far{io_};
    acceptor_.accept(near);
    far.connect({asio::ip::address_v4::loopback(), port});
    const std::jthread back{[&] { pass_on(far, near, [](auto) {}); }};
    pass_on(near, far, [this](auto bytes) { heard_.insert(heard_.end(), bytes.begin(), bytes.end()); });
  }
  template <class Taker>
  static void pass_on(tcp::socket& from, tcp::socket& to, Taker take) {
    std::array<std::byte, 4096> bytes{};
    asio::error_code over;
    while (!over) {
      const auto part = std::span{bytes}.first(from.read_some(asio::buffer(bytes), over));
      take(part);
      if (!part.empty())
        asio::write(to, asio::buffer(part.data(), part.size()), over);
    }
    to.shutdown(tcp::socket::shutdown_both, over);
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::vector<std::byte> heard_;
  std::jthread thread_;
};

/// Calls `visit` at each evaluation: a stranger comes to the door.
struct visited_run final : run_observer {
  visited_run(const cluster& c, std::function<void(std::uint16_t)> v) : all(c), visit(std::move(v)) {}
  void on_evaluation(const evaluation_record& r) override {
    records.push_back(r);
    visit(all.port);
  }
  const cluster& all;
  std::function<void(std::uint16_t)> visit;
  std::vector<evaluation_record> records;
};

TEST(cluster_with_a_token, comes_to_what_it_comes_to_without_and_allocates_nothing_for_strangers) {
  const auto e = prepare(small_run("d-psgd"));
  cluster open{{{}, {}}};
  recorder undisturbed;
  open.run(e, {.observer = &undisturbed});
  const credentials knowing{nullptr, access_token::drawn()};
  cluster nodes{{{.shows = knowing}, {.shows = knowing}}};
  nodes.shows = knowing;
  std::vector<test::raw_connection> strangers;
  std::size_t grown = 0;
  constexpr std::uint32_t announced = 0x30000000;
  visited_run visited{nodes, [&](std::uint16_t port) {
                        const auto before = resident_bytes();
                        for (int k = 0; k < 5; ++k) {
                          strangers.emplace_back(port);
                          strangers.back().send(test::control_header(announced, 0));
                          EXPECT_TRUE(strangers.back().receive_until_closed().empty()) << "strangers are told nothing";
                        }
                        grown = std::max(grown, std::max(resident_bytes(), before) - before);
                      }};
  const auto summary = nodes.run(e, {.observer = &visited});
  EXPECT_THAT(nodes.ends(), Each(""));
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_FALSE(strangers.empty());
  EXPECT_LT(grown, announced / 4);
  expect_alike(visited.records, undisturbed.records);
}

/// Asks the leader for the state of the run through an eavesdropper.
/// @returns the bytes that the eavesdropper recorded
std::vector<std::byte> recorded_question(std::uint16_t port, const credentials& knowing) {
  eavesdropper line{port};
  node_settings s;
  s.where = {"127.0.0.1", line.port()};
  s.shows = knowing;
  EXPECT_TRUE(ask_leader(s).begun);
  return line.heard();
}

TEST(cluster_with_a_token, is_not_moved_by_what_was_recorded) {
  const credentials knowing{nullptr, access_token::drawn()};
  cluster nodes{{{.shows = knowing}, {.shows = knowing}}};
  nodes.shows = knowing;
  auto settings = small_run("ad-psgd");
  settings.epochs = 1e6; // long enough that only the interrupt ends the run
  settings.eval_every = 1;
  std::atomic<bool> replayed = false;
  std::jthread stranger;
  visited_run visited{nodes, [&](std::uint16_t port) {
                        if (stranger.joinable())
                          return;
                        stranger = std::jthread{[&, port] { // asks beside the run
                          const auto recorded = recorded_question(port, knowing);
                          constexpr auto handshake = token_handshake::greeting_bytes + token_handshake::proof_bytes;
                          EXPECT_GT(recorded.size(), handshake + control_guard::header_bytes);
                          for (int k = 0; k < 10; ++k) {
                            const test::raw_connection again{port};
                            again.send(recorded);
                            EXPECT_EQ(again.receive_until_closed().size(), handshake) << "a challenge, and a refusal";
                          }
                          replayed = true;
                        }};
                      }};
  const auto summary =
      nodes.run(prepare(settings), {.observer = &visited, .interrupted = [&] { return replayed.load(); }});
  EXPECT_EQ(summary.end, run_end::interrupted);
  EXPECT_EQ(summary.lost, 0u);
  EXPECT_EQ(summary.returned, 0u);
}

/// Returns the error of a node that shows one token to a leader with another.
std::string end_of_stranger(std::optional<access_token> leader, std::optional<access_token> stranger) {
  cluster nodes{{{.shows = {nullptr, std::move(stranger)}, .wait = {}}}};
  nodes.shows.token = std::move(leader);
  nodes.ends_without_joiners = true;
  EXPECT_THROW(nodes.run(prepare(small_run("d-psgd"))), error) << "nobody has come";
  EXPECT_THAT(nodes.said(), testing::IsEmpty());
  return nodes.ends()[1];
}

TEST(cluster_with_a_token, lets_nobody_in_with_another_or_none) {
  EXPECT_THAT(end_of_stranger(access_token::drawn(), access_token::drawn()),
              AllOf(HasSubstr("does not accept this token"), HasSubstr("GOSSAMER_TOKEN")));
  EXPECT_THAT(end_of_stranger(std::nullopt, access_token::drawn()),
              AnyOf(HasSubstr("it does not ask for a token, as a node with --no-token"),
                    HasSubstr("as a node with certificates or with --no-token does")))
      << "whoever speaks first";
  EXPECT_THAT(end_of_stranger(access_token::drawn(), std::nullopt), HasSubstr("nobody leads a run at 127.0.0.1"));
}

} // namespace
} // namespace gossamer::actors
