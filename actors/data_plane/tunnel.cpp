#include "gossamer/actors/data_plane/tunnel.hpp"

#include "gossamer/actors/data_plane/detail/lane.hpp"
#include "gossamer/actors/data_plane/detail/listening.hpp"
#include "gossamer/actors/data_plane/detail/patience.hpp"

#include <algorithm>
#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <future>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gossamer::actors {

using namespace detail;
using asio::ip::tcp;

/// The part of a tunnel that runs on its thread.
class tunnel::hub {
public:
  hub(const credentials& shown, std::chrono::milliseconds longest)
      : shown_(shown), longest_break_(longest), acceptor_(io_), pause_(io_), end_(io_), thread_([this] { run(); }) {}
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;
  ~hub() {
    asio::post(io_, [this] { close(); });
    thread_.join();
  }

  endpoint listen(const endpoint& where, std::function<void(int)> in) {
    auto listening = std::make_shared<tcp::acceptor>(listen_at(io_, where));
    const auto port = listening->local_endpoint().port();
    asio::post(io_, [this, listening, in = std::move(in)] {
      door_ = listening->local_endpoint().port();
      acceptor_ = std::move(*listening);
      in_ = in;
      accept();
      for (const auto& l : std::list{lanes_})
        l->tell_door(door_);
    });
    return {where.host, port};
  }

  std::future<int> connect(const endpoint& where) {
    const auto result = std::make_shared<std::promise<int>>();
    asio::post(io_, [this, where, result] {
      try {
        connect(where, result);
      } catch (...) {
        result->set_exception(std::current_exception());
      }
    });
    return result->get_future();
  }

  void stop_connecting() {
    asio::post(io_, [this] {
      for (const auto& l : std::list{lanes_})
        if (l->is_attempt())
          l->give_up("does not answer");
    });
  }

  void bound_messages(std::uint64_t most_bytes) { most_message_ = most_bytes; }

  hitch trouble() const {
    const std::scoped_lock lock{mutex_};
    return trouble_;
  }

private:
  void run() {
    while (!io_.stopped())
      try {
        io_.run();
      } catch (const std::exception& e) { // no memory is left; patience ends the connections that it has stopped
        note(e);
      }
  }

  /// @param where the peer is, if this end opens the lane
  std::shared_ptr<lane> add(std::unique_ptr<stream> far, std::function<void(int)> opened,
                            std::function<void(const lane::ending&)> ended,
                            const std::optional<endpoint>& where = std::nullopt) {
    const auto place = lanes_.emplace(lanes_.end());
    lane::owner whose{
        .longest_break = longest_break_,
        .opened = std::move(opened),
        .ended =
            [this, place, ended = std::move(ended)](const lane::ending& end) {
              ended(end);
              lanes_.erase(place);
              stop_if_over();
            },
        .connect_again = {},
        .look_for_peer = [this,
                          place](const tcp::endpoint& door) { look_for_peer(door, *place, pause_between_attempts); },
        .find = [this](const lane_id& id) { return opened_by_peer(id); }};
    if (where)
      whose.connect_again = [this, place, there = *where](bool at_once) {
        at_once ? connect_again(there, *place) : connect_later(there, *place);
      };
    try {
      return *place = std::make_shared<lane>(io_, std::move(far), most_message_, std::move(whose));
    } catch (...) {
      lanes_.erase(place);
      throw;
    }
  }

  std::shared_ptr<lane> opened_by_peer(const lane_id& id) {
    const auto found = std::ranges::find_if(lanes_, [&](const auto& l) { return l->is_of_peer(id); });
    return found == lanes_.end() ? nullptr : *found;
  }

  void accept() {
    acceptor_.async_accept([this](asio::error_code e, tcp::socket s) {
      if (!acceptor_.is_open())
        return;
      if (e == asio::error::no_descriptors)
        tell_of_lack();
      if (e) // or the guest is gone already
        return pause_.set(pause_without_descriptors, [this] { accept(); });
      greet(std::move(s));
      accept();
    });
  }

  /// Says once that this process lacks descriptors.
  void tell_of_lack() {
    if (!std::exchange(has_told_of_lack_, true))
      in_(no_connection);
  }

  /// Makes room for one more guest: the oldest goes. A peer has introduced itself before so many others have come.
  void make_room() {
    if (std::ranges::count_if(lanes_, &lane::is_guest) < static_cast<std::ptrdiff_t>(most_guests))
      return;
    const auto oldest = *std::ranges::find_if(lanes_, &lane::is_guest);
    oldest->end("");
  }

  void greet(tcp::socket s) {
    make_room();
    try {
      const auto guest = add(accepting_stream(std::move(s), shown_), in_, [this](const lane::ending& end) {
        if (end.is_lack)
          tell_of_lack();
      });
      guest->expect(longest_hello(longest_break_));
      guest->begin();
    } catch (const std::exception& e) { // ends this guest only
      note(e);
    }
  }

  void connect(const endpoint& where, const std::shared_ptr<std::promise<int>>& result) {
    const auto once = std::make_shared<bool>(false);
    const auto answer = [result, once](int socket) {
      if (!std::exchange(*once, true))
        result->set_value(socket);
    };
    const auto made = add(
        opening_stream(tcp::socket{io_}, shown_, where.host), answer,
        [this, where, answer, once](const lane::ending& end) {
          note({where, end.why.empty() && !*once ? std::string{closed_unheard} : end.why, end.is_refused,
                end.is_silence});
          answer(end.is_silence ? no_answer : no_connection);
        },
        where);
    made->tell_door(door_);
    made->expect(longest_attempt(longest_break_));
    reach(where, std::shared_ptr<tcp::socket>{made, &made->far().socket()},
          [waiting = std::weak_ptr{made}](const std::string& why, bool is_refused) {
            const auto l = waiting.lock();
            if (!l)
              return;
            if (why.empty())
              return l->begin();
            is_refused ? l->end(why) : l->give_up(why);
          });
  }

  /// Connects a lane again whose stream has broken, until that succeeds, or the lane ends.
  void connect_again(const endpoint& where, const std::weak_ptr<lane>& broken) {
    const auto next = std::make_shared<std::unique_ptr<stream>>(opening_stream(tcp::socket{io_}, shown_, where.host));
    const std::shared_ptr<tcp::socket> socket{next, &(*next)->socket()};
    const auto limit = std::make_shared<alarm>(io_);
    limit->set(longest_connect, [socket] {
      asio::error_code ignored;
      socket->close(ignored);
    });
    reach(where, socket, [this, where, broken, next, limit](const std::string& why, bool is_refused) {
      limit->cancel();
      const auto l = broken.lock();
      if (!l)
        return;
      if (why.empty())
        return l->resume(std::move(*next), std::nullopt);
      if (is_refused) // the process has ended
        return l->end("");
      connect_later(where, broken);
    });
  }

  void connect_later(const endpoint& where, const std::weak_ptr<lane>& broken) {
    after_a_pause(broken, pause_between_attempts, [this, where, broken] { connect_again(where, broken); });
  }

  /// Asks until the lane goes on, or ends. The peer's process closes its connections one by one when it ends, the door
  /// perhaps as the last.
  void look_for_peer(const tcp::endpoint& door, const std::weak_ptr<lane>& broken, std::chrono::milliseconds pause) {
    const auto socket = std::make_shared<tcp::socket>(io_);
    socket->async_connect(door, [this, door, broken, socket, pause](asio::error_code e) {
      const auto l = broken.lock();
      if (!l || !l->is_apart())
        return;
      if (e == asio::error::connection_refused)
        return l->end("");
      const auto next = std::min(2 * pause, longest_pause); // it may stand still for long
      after_a_pause(broken, pause, [this, door, broken, next] { look_for_peer(door, broken, next); });
    });
  }

  /// @param then unless the lane has ended by then
  void after_a_pause(const std::weak_ptr<lane>& broken, std::chrono::milliseconds pause, std::function<void()> then) {
    const auto timer = std::make_shared<asio::steady_timer>(io_, pause);
    timer->async_wait([broken, timer, then = std::move(then)](asio::error_code) {
      if (!broken.expired())
        then();
    });
  }

  /// Connects a socket, unless it is gone before. @param then gets the reason if that fails, and whether the other
  /// machine refuses it
  void reach(const endpoint& where, const std::weak_ptr<tcp::socket>& socket,
             std::function<void(const std::string& why, bool is_refused)> then) {
    const auto resolver = std::make_shared<tcp::resolver>(io_);
    resolver->async_resolve(
        where.host, std::to_string(where.port),
        [socket, resolver, then = std::move(then)](asio::error_code e, const tcp::resolver::results_type& found) {
          const auto s = socket.lock();
          if (!s)
            return;
          if (e)
            return then("has a name that is not known: " + e.message(), false);
          asio::async_connect(*s, found, [s, then](asio::error_code failure, const tcp::endpoint&) {
            then(failure ? "cannot be connected to: " + failure.message() : "",
                 failure == asio::error::connection_refused);
          });
        });
  }

  void note(hitch what) {
    const std::scoped_lock lock{mutex_};
    if (!what.why.empty())
      trouble_ = std::move(what);
  }
  void note(const std::exception& e) {
    hitch what;
    what.why = e.what();
    note(std::move(what));
  }

  void close() {
    closing_ = true;
    pause_.cancel();
    asio::error_code ignored;
    acceptor_.close(ignored);
    for (const auto& l : std::list{lanes_})
      if (!l->is_open() || l->is_apart())
        l->end("");
    end_.set(longest_flush, [this] { io_.stop(); });
    stop_if_over();
  }

  void stop_if_over() {
    if (closing_ && lanes_.empty())
      io_.stop();
  }

  const credentials shown_;
  const std::chrono::milliseconds longest_break_;
  std::atomic<std::uint64_t> most_message_ = most_control_bytes_of_any_run;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  tcp::acceptor acceptor_;
  alarm pause_, end_;
  std::function<void(int)> in_;
  std::uint16_t door_ = 0; ///< the port of the acceptor
  bool has_told_of_lack_ = false;
  std::list<std::shared_ptr<lane>> lanes_;
  bool closing_ = false;
  mutable std::mutex mutex_;
  hitch trouble_;
  std::thread thread_;
};

tunnel::tunnel(const credentials& shown, std::chrono::milliseconds longest)
    : hub_(std::make_unique<hub>(shown, longest)) {}
tunnel::~tunnel() = default;

endpoint tunnel::listen(const endpoint& where, std::function<void(int)> in) {
  return hub_->listen(where, std::move(in));
}

int tunnel::connect(const endpoint& where) { return hub_->connect(where).get(); }

void tunnel::stop_connecting() { hub_->stop_connecting(); }

void tunnel::bound_messages(std::uint64_t most_bytes) { hub_->bound_messages(most_bytes); }

tunnel::hitch tunnel::trouble() const { return hub_->trouble(); }

} // namespace gossamer::actors
