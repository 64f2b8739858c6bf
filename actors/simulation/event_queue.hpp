#pragma once

#include "gossamer/actors/simulation/time.hpp"
#include "gossamer/base/error.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gossamer::actors {

/// The events of a simulated run in the order of their times; events of the same time in the order of their pushes.
///
/// A heap with four children a node, of keys of 24 bytes. The payloads do not move, so a large one costs no more than a
/// small one. O(log events) a push and a pop. Threads: one at a time.
/// @tparam T movable, by construction and by assignment
template <class T>
class event_queue {
public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }

  void push(virtual_time time, T payload) {
    key k{time, pushed_++, static_cast<std::uint32_t>(payloads_.size())};
    if (free_.empty()) {
      payloads_.push_back(std::move(payload));
    } else {
      k.slot = free_.back();
      free_.pop_back();
      payloads_[k.slot] = std::move(payload);
    }
    heap_.push_back(k);
    rise(heap_.size() - 1, k);
  }

  /// Time of the first event. Requires one.
  virtual_time top_time() const {
    GOSSAMER_ASSERT(!empty(), "there is an event");
    return heap_.front().time;
  }

  /// Removes and returns the first event. Requires one.
  T pop() {
    GOSSAMER_ASSERT(!empty(), "there is an event");
    const auto slot = heap_.front().slot;
    const auto last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty())
      sink(last);
    free_.push_back(slot);
    return std::move(payloads_[slot]);
  }

private:
  struct key {
    virtual_time time;
    std::uint64_t number;
    std::uint32_t slot;

    bool before(const key& other) const noexcept {
      return time < other.time || (time == other.time && number < other.number);
    }
  };
  static constexpr std::size_t children = 4;

  /// Puts k into the hole at `i`, or above it.
  void rise(std::size_t i, const key& k) noexcept {
    for (; i > 0 && k.before(heap_[(i - 1) / children]); i = (i - 1) / children)
      heap_[i] = heap_[(i - 1) / children];
    heap_[i] = k;
  }

  /// Puts k into the hole at the top, or below it.
  void sink(const key& k) noexcept {
    std::size_t i = 0;
    for (std::size_t child = 1; child < heap_.size(); child = children * i + 1) {
      auto first = child;
      const auto end = std::min(child + children, heap_.size());
      for (auto j = child + 1; j < end; ++j)
        first = heap_[j].before(heap_[first]) ? j : first;
      if (!heap_[first].before(k))
        break;
      heap_[i] = heap_[first];
      i = first;
    }
    heap_[i] = k;
  }

  std::vector<key> heap_;
  std::vector<T> payloads_;
  std::vector<std::uint32_t> free_;
  std::uint64_t pushed_ = 0;
};

} // namespace gossamer::actors
