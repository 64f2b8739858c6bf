#pragma once

#include "gossamer/actors/runtime/channel.hpp"
#include "gossamer/actors/runtime/roster.hpp"
#include "gossamer/actors/runtime/transport.hpp"

#include <vector>

namespace gossamer::actors {

/// A worker's links and channels to its peers, as many as it uses. Frames of a peer's former life are dropped; frames
/// of a life that this worker has not heard of wait until it has. Every bit is counted here, where it is sent.
/// Threads: actor-confined.
class connections {
public:
  using time = channel::time;

  /// @param acknowledged links may lose, repeat or reorder frames: channels repeat what is not acknowledged
  connections(life self, bool acknowledged, std::shared_ptr<transport> net)
      : self_(self), acknowledged_(acknowledged), transport_(std::move(net)) {}

  /// Who is there. Links to peers that were lost end, those to peers that were started anew begin anew. @returns frames
  /// that waited for this
  std::vector<frame> meet(std::shared_ptr<const roster> who);

  void send(rank to, frame f, time now);

  /// Hands on what is in turn, once each.
  template <class Deliver>
  void arrived(frame f, time now, Deliver deliver) {
    const auto from = f.source;
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
  };

  peer* accept(frame& f, time now);
  void acknowledge(rank to, peer& p);
  void send_over_link(rank to, peer& p, frame f);

  life self_;
  bool acknowledged_;
  std::shared_ptr<transport> transport_;
  std::shared_ptr<const roster> who_;
  std::map<rank, peer> peers_;
  std::vector<frame> strangers_;
  traffic sent_;
};

} // namespace gossamer::actors
