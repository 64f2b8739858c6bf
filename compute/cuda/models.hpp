#pragma once

#include "gossamer/base/cuda/device.hpp"
#include "gossamer/compute/model.hpp"

#include <memory>
#include <string_view>

// Models on GPUs. The header names no CUDA type; without the toolkit, a request for a GPU is an error ("built without
// CUDA").
namespace gossamer::compute::cuda {

/// Returns the twin of a model on a GPU: the same objective over the same x and the same batches, all in the memory of
/// the host, so that callers need not know where it computes. On the processor, a clone.
///
/// Losses and gradients agree with those of the processor to about 1e-6 of the gradient's length: sums are in another
/// order. The same GPU, toolkit and driver give the same bits from run to run: products are cuBLAS's in float, without
/// tensor cores and without atomics, and every other sum is in a fixed order.
///
/// The samples of a dataset are copied to a GPU with the first batch that names it, once for all models of the process
/// on that GPU, and stay there until the last model that has seen them is gone. They are known by the dataset's
/// address: it must live, unchanged, as long as these models.
///
/// A gradient copies x to the GPU and the gradient back, and waits. It costs as many operations as on the processor;
/// sparse batches are transposed on the processor meanwhile, in time linear in their entries. Workspace on the GPU: at
/// most 64 MiB, or 16 samples, and 32 MiB for cuBLAS.
///
/// Threads: as any model; twins of one model, and their clones, may compute at the same time.
/// @param m a model on the processor
/// @param name the model's name, for the error
/// @error errc::usage when the model has no twin: lists those that have one; when there is no such GPU, or the program
///        was built without CUDA. By the twin: errc::failed when memory does not suffice, errc::device when the GPU
///        fails
std::unique_ptr<model> on_device(const model& m, std::string_view name, gossamer::cuda::device where);

} // namespace gossamer::compute::cuda
