#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// Decides which of several nodes that do not reach each other is lost: the node that reaches the fewest, so that a
/// node with a broken network does not cost all nodes that it complains about. Complaints are collected for a moment,
/// because both sides complain. Of two alike, the target of the first complaint is lost; the leader's node never is. A
/// lost node is barred for some time, each time twice as long, although the leader hears it. The class has no clock:
/// its owner passes the time, from any origin. Threads: as a value.
class conflicts {
public:
  using time = std::chrono::nanoseconds;
  static constexpr time collected_for = std::chrono::seconds(1);

  /// @param first_bar for how long a node is barred the first time
  explicit conflicts(std::uint32_t leader = 0, time first_bar = std::chrono::seconds(20))
      : leader_(leader), first_bar_(first_bar) {}

  struct loss {
    std::uint32_t node;
    std::string why;
  };

  /// Ignores what a node says about itself.
  void add(std::uint32_t by, std::uint32_t about, std::string why, time now) {
    if (by == about)
      return;
    since_ = since_.value_or(now);
    complaints_.push_back({by, about, std::move(why)});
  }
  /// Drops all complaints by and about a node that is lost for another reason.
  void forget(std::uint32_t node) {
    std::erase_if(complaints_, [=](const auto& c) { return c.by == node || c.about == node; });
  }
  /// Lifts the bar of a node that the leader does not hear, either: it was cut off from all nodes.
  void pardon(std::uint32_t node) {
    forget(node);
    bars_.erase(node);
  }
  bool bars(std::uint32_t node, time now) const {
    const auto found = bars_.find(node);
    return found != bars_.end() && now < found->second.until;
  }
  /// Returns the nodes that are lost; usually none.
  std::vector<loss> settle(time now) {
    std::vector<loss> result;
    if (!since_ || now - *since_ < collected_for)
      return result;
    since_.reset();
    while (!complaints_.empty()) {
      result.push_back(worst());
      const auto node = result.back().node;
      forget(node);
      auto& one = bars_.try_emplace(node, bar{first_bar_ / 2, now}).first->second;
      one.length *= 2;
      one.until = now + one.length;
    }
    return result;
  }

private:
  struct complaint {
    std::uint32_t by, about;
    std::string why;
  };
  struct bar {
    time length, until;
  };

  /// Requires a complaint.
  loss worst() const {
    std::map<std::uint32_t, std::vector<std::uint32_t>> unreached;
    for (const auto& c : complaints_) {
      unreached[c.by].push_back(c.about);
      unreached[c.about].push_back(c.by);
    }
    const auto count = [&](std::uint32_t node) -> std::ptrdiff_t {
      auto& others = unreached[node];
      std::ranges::sort(others);
      return node == leader_ ? -1 : std::unique(others.begin(), others.end()) - others.begin();
    };
    std::optional<loss> result;
    std::ptrdiff_t most = -1;
    for (const auto& c : complaints_)
      for (const auto node : {c.about, c.by})
        if (const auto n = count(node); n > most) {
          most = n;
          result = {node, c.why};
        }
    return *result;
  }

  std::uint32_t leader_;
  time first_bar_;
  std::vector<complaint> complaints_;
  std::map<std::uint32_t, bar> bars_;
  std::optional<time> since_; ///< time of the first complaint
};

} // namespace gossamer::actors
