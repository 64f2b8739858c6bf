#pragma once

#include "gossamer/actors/frames/channel.hpp"
#include "gossamer/actors/frames/roster.hpp"
#include "gossamer/actors/frames/traffic_table.hpp"
#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/frames/under_way.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// Limit of what may be under way from a worker to a peer.
struct room_to_send {
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
  std::function<void()> more = [] {}; ///< called when less is under way, as in `under_way`
};

/// A worker's links and channels to its peers, as many as it uses. Frames of a peer's earlier incarnations are dropped;
/// frames of an incarnation that no roster has named yet wait for the roster that does. Every bit is counted here,
/// where it is sent, into a table that others may read.
/// Threads: actor-confined.
class connections {
public:
  using time = channel::time;

  /// @param acknowledged links may lose, repeat or reorder frames: channels repeat frames that are not acknowledged
  /// @param sent counts what is sent, for the lifetime of this object and beyond
  connections(life self, bool acknowledged, std::shared_ptr<transport> net, room_to_send room = {},
              std::shared_ptr<traffic_table> sent = std::make_shared<traffic_table>())
      : self_(self), acknowledged_(acknowledged), transport_(std::move(net)), room_(std::move(room)),
        sent_(std::move(sent)) {}

  /// Takes over a roster. Links to lost peers end, and links to restarted peers begin anew.
  /// @returns frames that waited for this roster
  std::vector<frame> meet(std::shared_ptr<const roster> who);

  void send(rank to, frame f, time now);
  /// True if the bytes under way stay within the limit: for every peer, or for one peer within half of the limit, which
  /// leaves space for one more frame. After a false, `room_to_send::more` reports when the answer may have changed. The
  /// loss of a peer may change the answer, too.
  bool has_room(std::optional<rank> to = std::nullopt) const;

  /// Hands on the frames that are in turn, once each.
  template <class Deliver>
  void arrived(frame f, time now, Deliver deliver) {
    const auto from = f.source;
    f.on_the_way.reset();
    if (auto* sender = accept(f, now)) {
      sender->ends.arrived(std::move(f), deliver);
      if (acknowledged_)
        acknowledge(from, *sender);
    }
  }

  /// Everything that went over the links, including links that have ended.
  traffic sent() const { return sent_->total(); }

  /// When `repeat` is due; `nullopt` while everything is acknowledged.
  std::optional<time> timeout() const;
  void repeat(time now);

private:
  struct peer {
    std::unique_ptr<link> out; ///< null until something is sent
    channel ends;
    std::shared_ptr<under_way> load = nullptr; ///< null until something is sent
  };

  peer* accept(frame& f, time now);
  void acknowledge(rank to, peer& p);
  void send_over_link(rank to, peer& p, frame f);

  life self_;
  bool acknowledged_;
  std::shared_ptr<transport> transport_;
  room_to_send room_;
  std::shared_ptr<const roster> who_;
  std::map<rank, peer> peers_;
  std::vector<frame> strangers_;
  std::shared_ptr<traffic_table> sent_;
};

} // namespace gossamer::actors
