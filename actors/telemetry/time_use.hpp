#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gossamer::actors {

/// The activities of a worker. Figure 5 of Wu et al. (2022) counts waiting as communicating.
enum class activity : std::uint8_t { computing, compressing, communicating, waiting };
inline constexpr std::array activities{activity::computing, activity::compressing, activity::communicating,
                                       activity::waiting};
std::string to_string(activity what);

/// Times of a worker's activities, in nanoseconds. Computing: its gradients and its arithmetic. Communicating: the
/// handling of frames. Waiting: for frames of others, while there is no work besides a gradient; overlapping waits
/// count once. A gradient is computed beside the rest, so the four need not add up to the run.
struct time_use {
  std::array<std::int64_t, activities.size()> ns{};

  std::int64_t& of(activity what) noexcept { return ns[static_cast<std::size_t>(what)]; }
  std::int64_t of(activity what) const noexcept { return ns[static_cast<std::size_t>(what)]; }
};

/// A line for people: the means over all workers.
std::string describe(const std::vector<time_use>& workers);
/// [{"rank", "computing_s", "compressing_s", "communicating_s", "waiting_s"}, ...]
std::string to_json(const std::vector<time_use>& workers);

} // namespace gossamer::actors
