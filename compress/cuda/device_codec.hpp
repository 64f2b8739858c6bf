#pragma once

#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/compress/codec.hpp"

#include <memory>
#include <string_view>

// Codecs on GPUs. Packets are byte for byte those of compress/codec.hpp for the same vector, random stream and step, so
// nodes with and without a GPU train together. The headers name no CUDA type; without the toolkit, and without a GPU,
// no stream can be made that these functions could be called with ("built without CUDA").
namespace gossamer::compress::cuda {

struct device_form;

/// A codec that encodes vectors in the memory of a GPU.
///
/// Cost: one pass over the vector for its scale (none for `sign` and `grbs`), one that rounds and packs; two passes for
/// `top-k`. Then the payload is copied to page-locked host memory, and `encode` waits for it. What is drawn alike by
/// all workers is drawn on the processor.
/// Threads: safe, if each uses a stream of its own.
class device_codec {
public:
  /// @param text a codec as users name it, "uniform:bits=8"; `tensors` as in `make_codec`
  /// @error errc::usage when the text is wrong, or the codec has no form for GPUs: lists those that have one
  explicit device_codec(std::string_view text, std::span<const tensor_shape> tensors = {});
  ~device_codec();

  /// @param v in the memory of the stream's GPU, fewer than 2^32 elements; aligned like any float, at 16 bytes faster
  /// @error errc::diverged when v holds NaN or infinity, as the codec on the processor; errc::failed when memory does
  ///        not suffice or the GPU fails
  packet encode(const gossamer::cuda::stream& s, std::span<const float> v, const random_stream& random,
                std::uint64_t step) const;

private:
  std::unique_ptr<const device_form> form_;
};

/// y += a * decode(p), in one pass over y, or over what the packet keeps of it. Returns before the GPU is done, except
/// where places or values must be checked first. Packets of codecs without a form for GPUs are decoded on the
/// processor.
/// @param y in the memory of the stream's GPU
/// @error errc::bad_packet as `decode`, and when the packet is for another size than y's; y is then unchanged
void decode_add(const gossamer::cuda::stream& s, const packet& p, float a, std::span<float> y);

} // namespace gossamer::compress::cuda
