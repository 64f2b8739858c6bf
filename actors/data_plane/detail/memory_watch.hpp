#pragma once

#include <algorithm>
#include <vector>

namespace gossamer::actors::detail {

class memory_stream;

/// The streams through memory that one thread reads. While the thread is awake it looks into their rings itself. Only
/// before it sleeps do they ask the far ends for calls, since a call, and hearing it, cost each end system calls.
/// Threads: one.
class memory_watch {
public:
  void add(memory_stream& one) { streams_.push_back(&one); }
  void drop(const memory_stream& one) { std::erase(streams_, &one); }

  /// Lets those read that wait for bytes, and have some. @returns how many
  std::size_t look();
  /// Call it before sleeping in the context of the streams, which then wakes for bytes of theirs as well.
  void ask_for_calls();

private:
  std::vector<memory_stream*> streams_;
};

} // namespace gossamer::actors::detail
