#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// GPUs. These headers name no CUDA type: they compile without the toolkit, where every function that needs a GPU throws
// the one error "built without CUDA".
namespace gossamer::cuda {

/// Where something is computed: the processor, or a GPU by its number.
class device {
public:
  /// The processor.
  constexpr device() noexcept = default;
  explicit constexpr device(int gpu) noexcept : gpu_(gpu) {}

  constexpr bool on_gpu() const noexcept { return gpu_ >= 0; }
  /// Requires on_gpu().
  constexpr int gpu() const noexcept { return gpu_; }
  /// "cpu" or "cuda:0", as `parse_devices` reads it.
  std::string to_string() const;

  friend constexpr bool operator==(const device&, const device&) noexcept = default;

private:
  int gpu_ = -1;
};

/// What a GPU is.
struct gpu_description {
  int number = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// `cpu`, `cuda:0`, `cuda:all`, or several joined by +, each at most once.
/// @error errc::usage on any other text, on a GPU that is not there, and where there is none; says what is
std::vector<device> parse_devices(std::string_view text);

/// All GPUs, in the order of their numbers; at least one.
/// @error errc::usage when this build or this machine has none: says which, and what to do
std::vector<gpu_description> gpus();

/// Why `gpus()` would throw, or nothing when there is a GPU: for tests and programs that can do without.
std::string why_no_gpu();

} // namespace gossamer::cuda
