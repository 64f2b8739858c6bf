#pragma once

#include "gossamer/actors/cluster/detail/cluster_parts.hpp"
#include "gossamer/actors/real_time/real_time.hpp"

#include <deque>

namespace gossamer::actors::detail {

/// A member of the run has been called.
struct member_called {
  std::uint32_t source = 0;
  caf::actor door; ///< null: it does not answer
};
template <class Inspector>
decltype(auto) inspect(Inspector& f, member_called& m) {
  return f(m.source, m.door);
}

/// Members of a run as sources of its files, each identified by its process. Source 0 is the leader, whose door is
/// known; the others are called when they are asked for something.
class file_sources {
public:
  file_sources(caf::scoped_actor& self, control_plane& control, std::chrono::milliseconds patience,
               const door_interface::handle& leader, std::vector<endpoint> others);
  file_sources(const file_sources&) = delete;
  file_sources& operator=(const file_sources&) = delete;
  ~file_sources();

  std::vector<std::string> names() const;
  void ask_for_all(std::uint32_t source);
  void ask_for_piece(std::uint32_t source, const piece_request& m);

  // Incoming messages. News belong to the sender.
  void on_called(const member_called& m);
  template <class News>
  void on_news(News news) {
    const auto sender = caf::actor_cast<caf::actor>(self_->current_sender());
    for (std::uint32_t k = 0; k < members_.size() && sender; ++k)
      if (members_[k].door && members_[k].door.node() == sender.node()) {
        members_[k].server = sender;
        news_.push_back({k, std::move(news)});
        return;
      }
  }
  void on_down(const caf::down_msg& m);
  void lose(std::uint32_t source, std::string why) { news_.push_back({source, source_lost{std::move(why)}}); }

  /// Takes the first news, if there are any.
  std::optional<file_news> take();

private:
  struct member {
    endpoint where;
    caf::actor door;   // null: not reached yet
    caf::actor server; // null: it has not answered yet
  };

  caf::scoped_actor& self_;
  std::vector<member> members_; // by the number of the source
  scoped_life caller_;          // waits for connections
  std::deque<file_news> news_;
};

} // namespace gossamer::actors::detail
