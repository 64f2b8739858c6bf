#pragma once

#include "gossamer/actors/collectives/master.hpp"

#include <limits>
#include <map>

namespace gossamer::actors {

/// Bounds staleness at a master: the number of updates between reading a model and applying the gradient at it.
///
/// A read at v updates, when t updates are done and r other reads are out, ages at most to t - v + r before its
/// gradient arrives: each of the others adds one update, and reads again only as the gate allows. So a model may be
/// read only if all reads under way, and the new one, stay within tau.
///
/// Ho et al.: More effective distributed ML via a stale synchronous parallel parameter server, NeurIPS 2013. It needs
/// one master: two that withhold models could each let another worker go first, and both would wait for ever.
class staleness_gate {
public:
  /// A gate without a bound, which only measures.
  staleness_gate() = default;
  /// A gate with the bound of `staleness_parameter`.
  explicit staleness_gate(const arguments& given);

  /// True if one more model may be read after this many updates.
  bool admits(std::uint64_t updates) const;
  void read(rank who, std::uint64_t updates) { reads_[who] = updates; }
  bool has_read(rank who) const { return reads_.contains(who); }
  /// Notes that a worker's gradient has arrived. @returns its age in updates. Requires that the worker has read
  std::uint64_t applies(rank who, std::uint64_t updates);
  /// Notes that a worker's gradient will not come.
  void forget(rank who) { reads_.erase(who); }
  /// Number of gradients under way.
  std::size_t under_way() const noexcept { return reads_.size(); }

  void fields(archive& a) { a(reads_); }

private:
  std::uint64_t bound_ = std::numeric_limits<std::uint64_t>::max();
  std::map<rank, std::uint64_t> reads_; // updates of the model that a worker has read, while its gradient is under way
};

/// `staleness`, unbounded by default.
parameter staleness_parameter();
bool bounds_staleness(const arguments& given);

} // namespace gossamer::actors
