#pragma once

#include "gossamer/base/cuda/stream.hpp"
#include "gossamer/compress/coder.hpp"

// Codecs on GPUs. Packets are byte for byte those of compress/codec.hpp for the same vector, random stream and step, so
// nodes with and without a GPU train together. The headers name no CUDA type. Without the toolkit or a GPU, no stream
// can be made and no vector be on a GPU ("built without CUDA").
namespace gossamer::compress::cuda {

/// A coder for workers that compute on a GPU. It encodes vectors there if they are there and their codec has a form for
/// GPUs; all others on the processor.
///
/// The result of `decode` is still packed. A sum with a vector on a GPU, y += a d, decodes it in the same pass. The
/// stream does other arithmetic, such as the difference of two such vectors. The first access to its elements decodes
/// them on the processor, once.
/// @param known as of `coder`
/// @error by `decode`: errc::bad_packet, except where a value that is kept of a vector is not finite or has a wrong
///        place: the first use of the vector finds that, before any sum is changed
std::shared_ptr<const coder> gpu_coder(const gossamer::cuda::stream& s, const registry<codec_entry>& known = codecs());

/// Does `c.encode` for elements that no `vec` holds.
///
/// Cost: one pass over the vector for its scale (none for `sign` and `grbs`), one that rounds and packs; two passes for
/// `top-k`. Then the payload is copied to page-locked host memory, and `encode` waits for it. The processor draws the
/// choices that all workers make alike.
/// Threads: safe.
/// @param v in the memory of the stream's GPU, fewer than 2^32 elements; aligned like any float, at 16 bytes faster
/// @error errc::usage when the codec has no form for GPUs: lists those that have one; errc::diverged when v holds NaN
///        or infinity, as the codec on the processor; errc::failed when memory does not suffice; errc::device
packet encode(const gossamer::cuda::stream& s, const codec& c, std::span<const float> v, const random_stream& random,
              std::uint64_t step);

/// y += a * decode(p), in one pass over y, or over the elements that the packet keeps. Returns before the GPU is done,
/// except where places or values must be checked first. Packets of codecs without a form for GPUs are decoded on the
/// processor.
/// @param y in the memory of the stream's GPU
/// @error errc::bad_packet as `decode`, and when the packet is for another size than y's; y is then unchanged
void decode_add(const gossamer::cuda::stream& s, const packet& p, float a, std::span<float> y);

} // namespace gossamer::compress::cuda
