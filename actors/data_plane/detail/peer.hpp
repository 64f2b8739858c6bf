#pragma once

#include "gossamer/actors/data_plane/arrivals.hpp"
#include "gossamer/actors/data_plane/data_plane_setup.hpp"
#include "gossamer/actors/data_plane/detail/alarm.hpp"
#include "gossamer/actors/data_plane/detail/memory_stream.hpp"
#include "gossamer/actors/data_plane/detail/silence.hpp"
#include "gossamer/actors/data_plane/session.hpp"

#include <asio/ip/tcp.hpp>
#include <vector>

namespace gossamer::actors::detail {

/// Another node: the session with it, and the connection that carries the session at present. It opens connections
/// while there is something to send, again and again, and complains whenever that has failed for `patience`. Threads:
/// that of its context.
class peer {
public:
  using tcp = asio::ip::tcp;

  struct surroundings {
    asio::io_context& io;
    const data_plane_setup& setup;
    arrivals& in;
    memory_watch& rings;                         ///< looks for bytes of peers on the same machine
    std::function<void()> settled;               ///< called when `is_settled` may have become true
    std::function<void(compress::guard)> guards; ///< called when later frames need another guard
  };

  peer(const surroundings& around, std::uint32_t node, const node_address& address);

  std::uint32_t node_life() const noexcept { return address_.life; }
  /// The same life of the node has moved, or has more workers.
  void meet(const node_address& address);

  /// Adds a frame. Call `carry_on` after it.
  void push(std::shared_ptr<const outgoing_frame> f);
  void carry_on();
  /// Takes a connection that the peer has opened with this hello.
  void accept(std::unique_ptr<stream> s, const hello& theirs);

  void break_connection(const std::string& why = "was disconnected");
  /// Tells the peer at once which chunks have arrived. A wait for a peer that refuses connections is over.
  void finish();
  /// Ends all exchange with the peer, with a complaint.
  void give_up(const refusal& why);
  /// True if all pushed frames have arrived, or no wait for them is worth while.
  bool is_settled() const noexcept { return given_up_ || is_out_of_reach_ || !talk_->has_frames(); }

private:
  struct wire {
    explicit wire(std::unique_ptr<stream> s) : bytes(std::move(s)) {}
    wire(const wire&) = delete;
    wire& operator=(const wire&) = delete;
    ~wire() {
      asio::error_code ignored;
      bytes->socket().close(ignored);
    }
    std::shared_ptr<stream> bytes;          ///< used by an attempt to connect as well, which ends a little later
    std::unique_ptr<shared_memory> offered; ///< until the peer has answered
    bool waits_to_read = false, waits_to_write = false;
  };

  std::string name() const;
  hello mine() const;
  void connect();
  void give_it(std::chrono::milliseconds time);
  void complain_in_time();
  void complain();
  void connect_to(std::vector<tcp::endpoint> where, std::size_t next = 0);
  void connected();
  void go_on_in_memory(std::unique_ptr<shared_memory> memory, memory_stream::side whose);
  bool may_share_memory();
  void read();
  void write();
  void wait_to_read();
  void wait_to_write();
  void acknowledge();
  void heard(session::phase before);
  void watch(silence so_far);
  void connection_gone();
  void closing_words();
  void trouble(const std::string& what);
  template <class Action>
  void guarded(Action action);

  surroundings around_;
  std::uint32_t node_;
  node_address address_;
  std::shared_ptr<std::set<rank>> ranks_; ///< all ranks that ever lived on the node
  std::unique_ptr<session> talk_;
  std::optional<refusal> given_up_; ///< the answer to a peer that connects again
  bool is_out_of_reach_ = false;    ///< for `patience` now
  bool finishes_ = false;           ///< the run is over here
  bool is_overdue_ = false;         ///< out of patience with the present connection, which is open: the last one
  std::uint64_t arrived_ = 0;       ///< chunks, when patience began
  bool has_been_heard_ = false;     ///< on some connection: it is a node of this run
  std::shared_ptr<wire> wire_;      ///< null without a connection or an attempt at one
  std::string last_trouble_;
  std::chrono::milliseconds backoff_;
  tcp::resolver resolver_;
  alarm attempt_, retry_, patience_, look_, acknowledgement_;
};

} // namespace gossamer::actors::detail
