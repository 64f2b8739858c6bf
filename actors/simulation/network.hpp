#pragma once

#include "gossamer/base/registry.hpp"
#include "gossamer/topology/hosts_file.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gossamer::actors {

using topology::hosts_file;
using topology::link_number;
using topology::link_quality;
using topology::rank;
using topology::receiver_of;
using topology::sender_of;

/// Speed of a node's network card, independent of its peers: bits per second, may be infinite.
struct card_rates {
  double send = 0;
  double receive = 0;

  friend bool operator==(const card_rates&, const card_rates&) = default;
};

/// The links between the nodes of a simulated run. Every node reaches every other; a link is never faster than the
/// cards at its ends. Immutable. Threads: safe.
class network {
public:
  virtual ~network() = default;
  /// Requires two different nodes.
  virtual link_quality link(rank from, rank to) const = 0;
  virtual card_rates card(rank node) const = 0;
  /// The line behind the sender's card: pairs of nodes with the same line share its bandwidth. By default each pair has
  /// one of its own.
  virtual std::uint64_t line(rank from, rank to) const;
  /// The island of a node, whose links are faster than those to others; absent if the network has no islands.
  virtual std::optional<std::size_t> island(rank) const { return std::nullopt; }
  /// The machines of the nodes, if the network has them: workers then live where `launch` would put them. Null
  /// otherwise.
  virtual const hosts_file* hosts() const { return nullptr; }
};

/// The largest number of nodes of a network: workers, and masters if there are any.
inline constexpr std::size_t max_nodes = topology::max_workers + 1'024;

inline std::uint64_t network::line(rank from, rank to) const { return link_number(from, to); }

struct network_entry {
  description about;
  std::shared_ptr<const network> (*make)(const arguments&, std::size_t nodes);
};

/// All networks: ideal, uniform, datacentre, islands, the grid of Tang et al., wan, matrix, hosts.
const registry<network_entry>& networks();

/// A user's changes to single links; absent values stay unchanged.
struct link_override {
  std::optional<rank> from = {}, to = {}; ///< absent: every node
  std::optional<double> latency_s = {}, bits_per_second = {}, jitter_s = {};
};

/// Reads "0-3:bandwidth=1e6", which changes both directions between nodes 0 and 3, "0-to-3:latency=0.1,jitter=0.01",
/// which changes one, "0-all:..." or "all-to-0:...", which change the links of one node, or several of these joined by
/// ';'. Seconds and bits per second. No character means anything to a shell.
/// @error errc::usage if the text is not of that form, or a value is out of range
std::vector<link_override> parse_link_overrides(std::string_view text);

/// The same network with some of its links changed; if several overrides name a link, the last one counts. A card is as
/// fast as the fastest of its links. Memory and time: O(changed links).
/// @error errc::usage if there is no such node
std::shared_ptr<const network> with_overrides(std::shared_ptr<const network> base, std::size_t nodes,
                                              std::span<const link_override> overrides);

/// The same network with links and cards that are faster by a factor.
std::shared_ptr<const network> with_bandwidth_times(double factor, std::shared_ptr<const network> base);

/// The network that a user names, e.g. "tang-best:latency=0.02", with its overrides.
/// @error errc::usage if there is no such network, parameter or node
/// @error errc::bad_data, errc::io if its file is wrong or cannot be read; names file and line
std::shared_ptr<const network> make_network(std::string_view text, std::size_t nodes,
                                            std::span<const link_override> overrides = {});

} // namespace gossamer::actors
