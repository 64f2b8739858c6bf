#pragma once

#include "gossamer/actors/collectives/master.hpp"

#include <limits>
#include <map>

namespace gossamer::actors {

/// Bounds staleness at a master: how many updates are done between the reading of a model and the application of the
/// gradient at it.
///
/// A read of v when t updates are done and r other reads are out ages at most to t - v + r before its gradient is here:
/// each of the others adds one update, and reads again only as the gate allows. So a model is read only while all those
/// under way, and the new one, stay within tau.
///
/// Ho et al.: More effective distributed ML via a stale synchronous parallel parameter server, NeurIPS 2013. It needs
/// one master: two that withhold models could each let another worker go first, and both would wait for ever.
class staleness_gate {
public:
  /// Without a bound: it only measures.
  staleness_gate() = default;
  /// With the bound that `staleness_parameter` says.
  explicit staleness_gate(const arguments& given);

  /// Whether one more model may be read, when so many updates are done.
  bool admits(std::uint64_t updates) const;
  void read(rank who, std::uint64_t updates) { reads_[who] = updates; }
  bool has_read(rank who) const { return reads_.contains(who); }
  /// Its gradient is here. @returns how old: the updates that were done since. Requires that it has read.
  std::uint64_t applies(rank who, std::uint64_t updates);
  /// Its gradient will not come.
  void forget(rank who) { reads_.erase(who); }
  /// Gradients under way.
  std::size_t under_way() const noexcept { return reads_.size(); }

  void fields(archive& a) { a(reads_); }

private:
  std::uint64_t bound_ = std::numeric_limits<std::uint64_t>::max();
  std::map<rank, std::uint64_t> reads_; // updates that a model had seen whose gradient is under way
};

/// `staleness`, unbounded by default.
parameter staleness_parameter();
bool bounds_staleness(const arguments& given);

} // namespace gossamer::actors
