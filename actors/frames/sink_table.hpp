#pragma once

#include "gossamer/actors/frames/transport.hpp"

#include <mutex>
#include <vector>

namespace gossamer::actors {

/// The sinks of the workers and masters in this process, by rank, for their newest incarnations. Threads: safe.
class sink_table {
public:
  using entry = std::shared_ptr<const frame_sink>;

  void attach(life who, frame_sink sink) {
    const std::scoped_lock lock{mutex_};
    if (newest_.size() <= who.who)
      newest_.resize(who.who + 1);
    newest_[who.who] = {who.incarnation, std::make_shared<const frame_sink>(std::move(sink))};
  }
  /// Null where this incarnation is over, or was never attached.
  entry find(life who) const {
    const std::scoped_lock lock{mutex_};
    return who.who < newest_.size() && newest_[who.who].incarnation == who.incarnation ? newest_[who.who].sink
                                                                                       : nullptr;
  }
  /// True if a later incarnation of the same rank was attached.
  bool is_over(life who) const {
    const std::scoped_lock lock{mutex_};
    return who.who < newest_.size() && newest_[who.who].sink && newest_[who.who].incarnation > who.incarnation;
  }

private:
  struct newest_life {
    std::uint32_t incarnation = 0;
    entry sink;
  };

  mutable std::mutex mutex_;
  std::vector<newest_life> newest_;
};

} // namespace gossamer::actors
