#pragma once

#include "gossamer/actors/data_plane/data_plane_setup.hpp"
#include "gossamer/actors/data_plane/outbox.hpp"

#include <mutex>
#include <optional>

namespace gossamer::actors::detail {

/// Messages of other threads to the thread of the data plane, which takes them all at once. It outlives that thread.
/// Threads: safe.
class letter_box {
public:
  using nodes = std::map<std::uint32_t, node_address>;

  struct contents {
    std::optional<nodes> who;
    std::vector<rank> attached;
    std::vector<std::shared_ptr<const outgoing_frame>> frames;
    bool break_connections = false;
    bool close = false;
  };

  /// @param wake makes the thread take the contents; called under the lock, and not after `close`
  explicit letter_box(std::function<void()> wake) : wake_(std::move(wake)) {}

  void push(std::shared_ptr<const outgoing_frame> f) {
    leave([&](contents& c) { c.frames.push_back(std::move(f)); });
  }
  void attached(rank who) {
    leave([&](contents& c) { c.attached.push_back(who); });
  }
  void meet(nodes who) {
    leave([&](contents& c) {
      homes_.clear();
      for (const auto& [node, address] : who)
        for (const auto r : address.ranks)
          homes_[r] = node;
      c.who = std::move(who);
    });
  }
  void break_connections() {
    leave([](contents& c) { c.break_connections = true; });
  }
  /// Rejects all later letters.
  void close() {
    leave([this](contents& c) { c.close = closed_ = true; });
  }

  /// Sets whether frames to this node need a checksum.
  void guard(std::uint32_t node, compress::guard by) {
    const std::scoped_lock lock{mutex_};
    guards_[node] = by;
  }
  compress::guard guard_of(rank who) const {
    const std::scoped_lock lock{mutex_};
    const auto home = homes_.find(who);
    const auto found = home == homes_.end() ? guards_.end() : guards_.find(home->second);
    return found == guards_.end() ? compress::guard::checksum : found->second;
  }

  contents take() {
    const std::scoped_lock lock{mutex_};
    woken_ = false;
    return std::exchange(contents_, {});
  }
  std::optional<std::uint32_t> home_of(rank who) const {
    const std::scoped_lock lock{mutex_};
    const auto found = homes_.find(who);
    return found == homes_.end() ? std::nullopt : std::optional{found->second};
  }

private:
  template <class Change>
  void leave(Change change) {
    const std::scoped_lock lock{mutex_};
    if (closed_)
      return;
    change(contents_);
    if (!woken_)
      wake_(); // where memory ends in this call, the next letter tries again
    woken_ = true;
  }

  mutable std::mutex mutex_;
  contents contents_;
  std::map<rank, std::uint32_t> homes_;
  std::map<std::uint32_t, compress::guard> guards_; ///< for other nodes
  bool woken_ = false, closed_ = false;
  std::function<void()> wake_;
};

} // namespace gossamer::actors::detail
