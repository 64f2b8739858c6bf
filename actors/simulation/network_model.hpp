#pragma once

#include "gossamer/actors/simulation/network.hpp"
#include "gossamer/actors/simulation/time.hpp"

#include <cstdint>
#include <unordered_map>

namespace gossamer::actors {

/// The times of a frame on the network.
struct flight {
  virtual_time sent;    ///< the last bit has left the sender's card, which is free for the next frame
  virtual_time arrives; ///< the first bit reaches the receiver's card
};

/// Computes when frames arrive over a network whose nodes have one full-duplex card each.
///
/// A frame of S bits passes three stages, each of which serves its frames one after the other in the order they come:
/// the sender's card, for S / send rate; the link, for S / bandwidth, behind a latency with jitter; the receiver's
/// card, for S / receive rate. No stage waits for the last bit before it passes on the first, so a frame that meets no
/// other takes latency + S / bandwidth: the transmission counts once. All flows of a node share its cards: n frames of
/// S bits from n nodes to one take latency + n S / bandwidth.
///
/// A frame starts on the link after latency and jitter, but never before the frame ahead of it on this link is through:
/// the frames of an ordered pair of nodes keep their order. Pairs that share a line (`network::line`) share its rate.
/// The jitter is exponential with mean `jitter_s`, drawn from Philox by (run seed, sender, receiver and frame number).
/// Frames within one node take no time.
///
/// Simpler than a real network: cards serve whole frames, first come first served, where packets would interleave.
/// Memory: O(nodes + links in use). O(1) a frame. Deterministic. Threads: one at a time.
class network_model {
public:
  network_model(std::shared_ptr<const network> net, std::size_t nodes, std::uint64_t seed);

  /// Requires that the frames of one sender are sent in the order of time.
  /// @param number differs between the frames of one link; picks the jitter
  flight send(virtual_time now, rank from, rank to, std::size_t bytes, std::uint64_t number);

  /// Latency from a node to another one, for a message that takes no bandwidth. @param number as of `send`, with a
  /// range apart from that of frames
  virtual_time latency(rank from, rank to, std::uint64_t number) const;

  /// Time at which the last bit is in. Requires calls in the order of `arrival`, for each receiver; frames that arrive
  /// at the same time are received in the order of the calls.
  /// @param arrival as `send` returned it
  virtual_time receive(virtual_time arrival, rank to, rank from, std::size_t bytes);

  const network& links() const noexcept { return *network_; }

private:
  struct card {
    card_rates rates;
    virtual_time free_to_send{}, free_to_receive{};
    virtual_time last_arrival{};
  };

  virtual_time jitter(const link_quality& link, rank from, rank to, std::uint64_t number) const;

  std::shared_ptr<const network> network_;
  std::uint64_t seed_;
  std::vector<card> cards_;
  std::unordered_map<std::uint64_t, virtual_time> line_free_; // by line; at the receiver's end
};

} // namespace gossamer::actors
