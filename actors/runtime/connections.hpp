#pragma once

#include "gossamer/actors/runtime/channel.hpp"
#include "gossamer/actors/runtime/link.hpp"
#include "gossamer/actors/runtime/messages.hpp"

namespace gossamer::actors {

/// How a world joins two of its workers.
using link_factory = std::function<std::unique_ptr<link>(rank from, rank to, const caf::actor& target)>;

/// A worker's links and channels to its peers, as many as it uses. Frames of a peer's former life are dropped; frames
/// of a life that this worker has not heard of wait until it has. Threads: actor-confined.
class connections {
public:
  using time = channel::time;

  /// @param acknowledged links may lose, repeat or reorder frames: channels repeat what is not acknowledged
  connections(rank self, std::uint32_t incarnation, bool acknowledged, link_factory make)
      : self_(self), incarnation_(incarnation), acknowledged_(acknowledged), make_link_(std::move(make)) {}

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
  traffic sent() const;

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
  link& link_to(rank to, peer& p);

  rank self_;
  std::uint32_t incarnation_;
  bool acknowledged_;
  link_factory make_link_;
  std::shared_ptr<const roster> who_;
  std::map<rank, peer> peers_;
  std::vector<frame> strangers_;
  traffic ended_; ///< over links that are no more
};

} // namespace gossamer::actors
