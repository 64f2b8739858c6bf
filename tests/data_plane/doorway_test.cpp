// The door of a node alone, on this thread.
#include "gossamer/actors/data_plane/credentials.hpp"
#include "gossamer/actors/data_plane/detail/doorway.hpp"
#include "gossamer/actors/data_plane/detail/patience.hpp"

#include <gmock/gmock.h>

#include <asio/post.hpp>
#include <new>
#include <thread>

#include "data_plane/raw_connection.hpp"

namespace gossamer::actors::detail {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t the_run = 0x1234;

class doorway_test : public testing::Test {
protected:
  /// Opens a connection, which says hello, and waits until the door has seen it.
  void knock(std::uint32_t node) {
    guests_.emplace_back(door_.listens_on().port);
    guests_.back().send(write(hello{.run = the_run, .node = node}));
    const auto before = seen_;
    while (seen_ == before && io_.run_one() > 0)
      ;
  }

  /// Opens connections until all places are taken, and waits until the door has heard what each says.
  void strangers_come(std::size_t said) {
    for (std::size_t k = 0; k < most_guests; ++k) {
      guests_.emplace_back(door_.listens_on().port);
      guests_.back().send(std::vector<std::byte>(said));
      const auto before = streams_;
      while (streams_ == before && io_.run_one() > 0)
        ;
      io_.poll();
    }
  }
  /// Opens a connection, which says hello, and waits until it is closed: who is let in is dropped here.
  void peer_comes() {
    const test::raw_connection peer{door_.listens_on().port};
    peer.send(write(hello{.run = the_run, .node = 1}));
    bool has_ended = false;
    const std::jthread watching{[&] {
      peer.receive_until_closed();
      asio::post(io_, [&has_ended] { has_ended = true; });
    }};
    while (!has_ended && io_.run_one() > 0)
      ;
  }

  asio::io_context io_{1};
  doorway door_{io_, {"127.0.0.1", 0}, the_run, std::chrono::seconds{10}, [this](auto socket) {
                  return stream_of(std::move(socket));
                }};
  std::vector<test::raw_connection> guests_;
  std::vector<std::uint32_t> in_;
  int seen_ = 0;             ///< connections that have become streams, or failed to, or were let in
  int streams_ = 0;          ///< connections for which a stream was asked
  bool fails_early_ = false; ///< no stream can be made
  bool fails_late_ = false;  ///< who is let in is not wanted

private:
  std::unique_ptr<stream> stream_of(doorway::tcp::socket socket) {
    ++streams_;
    seen_ += fails_early_;
    if (fails_early_)
      throw std::bad_alloc();
    return accepting_stream(std::move(socket), credentials{});
  }
  void SetUp() override {
    door_.open([this](const auto&, const hello& h) {
      ++seen_;
      if (fails_late_)
        throw std::bad_alloc();
      in_.push_back(h.node);
    });
  }
};

TEST_F(doorway_test, lets_peers_in_while_strangers_hold_all_places) {
  for (const std::size_t said : {0u, 1u}) { // bytes of a hello that never ends
    strangers_come(said);
    in_.clear();
    peer_comes();
    EXPECT_THAT(in_, ElementsAre(1)) << said;
  }
}

TEST_F(doorway_test, stays_open_when_no_stream_can_be_made_for_a_guest) {
  fails_early_ = true;
  EXPECT_NO_THROW(knock(1));
  fails_early_ = false;
  knock(2);
  EXPECT_THAT(in_, ElementsAre(2));
}

TEST_F(doorway_test, stays_open_when_a_guest_cannot_be_let_in) {
  fails_late_ = true;
  EXPECT_NO_THROW(knock(1));
  fails_late_ = false;
  knock(2);
  EXPECT_THAT(in_, ElementsAre(2));
}

} // namespace
} // namespace gossamer::actors::detail
