// Replaces coder.cu in builds without the CUDA toolkit. No stream can be made there, so no function is ever reached.
#include "gossamer/base/error.hpp"
#include "gossamer/compress/cuda/coder.hpp"
#include "gossamer/compress/cuda/signs.hpp"

namespace gossamer::compress::cuda {

using gossamer::cuda::stream;

namespace {
[[noreturn]] void unreachable() {
  throw error(errc::usage, "built without CUDA",
              "use cpu, or build Gossamer where the CUDA toolkit is installed (cmake --preset cuda)");
}
} // namespace

std::shared_ptr<const coder> gpu_coder(const stream&, const registry<codec_entry>&) { unreachable(); }

packet encode(const stream&, const codec&, std::span<const float>, const random_stream&, std::uint64_t) {
  unreachable();
}
void decode_add(const stream&, const packet&, float, std::span<float>) { unreachable(); }
void pack_signs(const stream&, std::span<const float>, std::span<std::uint64_t>) { unreachable(); }
void draw_transient(const stream&, std::span<const std::uint64_t>, std::uint32_t, std::uint32_t, std::size_t,
                    const random_stream&, std::uint64_t, std::uint64_t, std::span<std::uint64_t>) {
  unreachable();
}
void merge_signs(const stream&, std::span<const std::uint64_t>, std::span<const std::uint64_t>,
                 std::span<const std::uint64_t>, std::span<std::uint64_t>) {
  unreachable();
}
void add_signs(const stream&, std::span<const std::uint64_t>, float, std::span<float>) { unreachable(); }

} // namespace gossamer::compress::cuda
