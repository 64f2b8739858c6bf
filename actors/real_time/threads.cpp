#include "gossamer/actors/real_time/threads.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace gossamer::actors {

void require_threads(std::size_t count) {
  std::promise<void> enough;
  const auto end = enough.get_future().share();
  std::vector<std::jthread> made;
  made.reserve(count);
  std::string problem;
  try {
    while (made.size() < count)
      made.emplace_back([end] { end.wait(); });
  } catch (const std::system_error& e) {
    problem = e.code().message();
  }
  enough.set_value();
  if (!problem.empty())
    throw error(
        errc::failed,
        fmt::format("the run needs {} more threads, of which only {} could be made: {}", count, made.size(), problem),
        "use fewer workers, each of which has a thread, or raise the limits of this shell (ulimit -u, ulimit -v)");
}

} // namespace gossamer::actors
