#pragma once

#include "gossamer/actors/frames/channel.hpp"
#include "gossamer/actors/frames/roster.hpp"
#include "gossamer/actors/frames/transport.hpp"
#include "gossamer/actors/frames/under_way.hpp"

#include <limits>
#include <optional>
#include <vector>

namespace gossamer::actors {

/// How much may be under way from a worker to a peer.
struct room_to_send {
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
  std::function<void()> more = [] {}; ///< see under_way
};

/// A worker's links and channels to its peers, as many as it uses. Frames of a peer's former life are dropped; frames
/// of a life that this worker has not heard of wait until it has. Every bit is counted here, where it is sent.
/// Threads: actor-confined.
class connections {
public:
  using time = channel::time;

  /// @param acknowledged links may lose, repeat or reorder frames: channels repeat what is not acknowledged
  connections(life self, bool acknowledged, std::shared_ptr<transport> net, room_to_send room = {})
      : self_(self), acknowledged_(acknowledged), transport_(std::move(net)), room_(std::move(room)) {}

  /// Who is there. Links to peers that were lost end, those to peers that were started anew begin anew. @returns frames
  /// that waited for this
  std::vector<frame> meet(std::shared_ptr<const roster> who);

  void send(rank to, frame f, time now);
  /// Whether no more is under way than may be, to anybody; to one peer: than half of it, so that a frame more is not
  /// too much. Where the answer is no, `room_to_send::more` says when it may have changed; losing a peer changes it,
  /// too.
  bool has_room(std::optional<rank> to = std::nullopt) const;

  /// Hands on what is in turn, once each.
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

  /// Everything that went over the links, also over those that have ended.
  const traffic& sent() const noexcept { return sent_; }

  /// When `repeat` has something to do; nothing while all is acknowledged.
  std::optional<time> timeout() const;
  void repeat(time now);

private:
  struct peer {
    std::unique_ptr<link> out; ///< null until something is sent
    channel ends;
    std::shared_ptr<under_way> load = nullptr; ///< likewise
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
  traffic sent_;
};

} // namespace gossamer::actors
