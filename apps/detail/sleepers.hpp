#pragma once

// Connections of libmicrohttpd, without which there is no live page.

#include "gossamer/actors/telemetry/side_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <microhttpd.h>
#include <mutex>
#include <poll.h>
#include <set>

namespace gossamer::apps {

/// True if the client has closed its end, or does not answer the system's probes.
inline bool has_hung_up(MHD_Connection* client) {
  pollfd socket{MHD_get_connection_info(client, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd, POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

/// The connections that get lines, and those of them that wait. Threads: any may call any member.
class sleepers {
public:
  void enter() {
    const std::scoped_lock lock{mutex_};
    ++open_;
  }
  void leave() {
    const std::scoped_lock lock{mutex_};
    --open_;
    changed_.notify_all();
  }

  /// Lets a connection sleep, unless its client has hung up or there is something to do: `has_work` is asked while
  /// nobody can wake it.
  /// @returns whether it sleeps
  template <class Question>
  bool sleep_unless(MHD_Connection* one, const Question& has_work) {
    const std::scoped_lock lock{mutex_};
    if (has_work() || closed_ || has_hung_up(one))
      return false;
    asleep_.insert(one); // first: one that is not known would sleep for ever
    MHD_suspend_connection(one);
    return true;
  }
  void wake() {
    const std::scoped_lock lock{mutex_};
    for (auto* one : asleep_)
      MHD_resume_connection(one);
    asleep_.clear();
  }
  /// Wakes every second those whose clients have hung up, until `close`. While they sleep they are in no poll set; and
  /// when they have all slots the listening socket is in none either, so that no new client would bring them to light.
  void wake_deserted() {
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, between_socket_looks, [this] { return closed_; }))
      std::erase_if(asleep_, [](MHD_Connection* one) {
        const bool is_deserted = has_hung_up(one);
        if (is_deserted)
          MHD_resume_connection(one);
        return is_deserted;
      });
  }
  /// Wakes all, and waits until they have got their last lines, or the time is over; nobody will sleep any more.
  void close(std::chrono::milliseconds longest) {
    {
      const std::scoped_lock lock{mutex_};
      closed_ = true;
    }
    changed_.notify_all();
    wake();
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, longest, [this] { return open_ == 0; });
  }

private:
  static constexpr std::chrono::seconds between_socket_looks{1};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t open_ = 0;
  std::set<MHD_Connection*> asleep_;
  bool closed_ = false;
};

/// Ends the thread of a server, which must not leave connections asleep.
struct daemon_deleter {
  std::shared_ptr<sleepers> all;
  void operator()(MHD_Daemon* d) const {
    all->close(actors::longest_farewell);
    MHD_stop_daemon(d);
  }
};

} // namespace gossamer::apps
