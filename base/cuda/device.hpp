#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// GPUs. These headers name no CUDA type: they compile without the toolkit, where every function that needs a GPU throws
// the one error "built without CUDA".
namespace gossamer::cuda {

/// A place of computation: the processor, or a GPU by its number.
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

/// Properties of a GPU.
struct gpu_description {
  int number = 0;
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// Reads `cpu`, `cuda:0`, `cuda:all`, or several joined by +, each at most once.
/// @error errc::usage on any other text, and on a GPU that does not exist; names the GPUs that do
std::vector<device> parse_devices(std::string_view text);

/// All GPUs, in the order of their numbers; at least one.
/// @error errc::usage when this build or this machine has none: says which, and what to do
std::vector<gpu_description> gpus();

/// Returns why `gpus()` would throw; empty when there is a GPU. For tests and programs that can do without a GPU.
std::string why_no_gpu();

} // namespace gossamer::cuda
