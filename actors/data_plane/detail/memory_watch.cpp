#include "gossamer/actors/data_plane/detail/memory_watch.hpp"

#include "gossamer/actors/data_plane/detail/memory_stream.hpp"

namespace gossamer::actors::detail {

std::size_t memory_watch::look() {
  std::size_t ready = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) // a reader may drop streams
    ready += streams_[i]->look();
  return ready;
}

void memory_watch::ask_for_calls() {
  for (auto* one : streams_)
    one->ask_for_call();
}

} // namespace gossamer::actors::detail
