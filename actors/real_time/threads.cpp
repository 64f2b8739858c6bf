#include "gossamer/actors/real_time/threads.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

#include <future>
#include <memory>
#include <new>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace gossamer::actors {

void require_threads(std::size_t count) {
  std::promise<void> enough;
  const auto end = enough.get_future().share();
  std::counting_semaphore<> has_memory{0};
  std::vector<std::unique_ptr<std::string>> memory(count); // of each: the allocator maps much for the first piece
  std::vector<std::jthread> made;
  made.reserve(count);
  std::string problem;
  try {
    while (made.size() < count) {
      made.emplace_back([end, &has_memory, &own = memory[made.size()]] {
        own.reset(new (std::nothrow) std::string);
        has_memory.release();
        end.wait();
      });
      has_memory.acquire();
    }
  } catch (const std::system_error& e) {
    problem = e.code().message();
  }
  enough.set_value();
  if (!problem.empty())
    throw error(
        errc::failed,
        fmt::format("this process needs {} more threads, of which only {} could be made: {}", count, made.size(),
                    problem),
        "use fewer workers, each of which has a thread, or raise the limits of this shell (ulimit -u, ulimit -v)");
}

} // namespace gossamer::actors
