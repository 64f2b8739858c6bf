#pragma once

#include <string>

namespace gossamer::compute::libtorch {

/// Refuses a file of PyTorch that is something else than TorchScript: a package of torch.export or of AOTInductor, or
/// what torch.save writes. LibTorch says only which part of a file of TorchScript it misses.
/// @error errc::bad_data with what the file is; others are left to LibTorch
void require_torchscript(const std::string& path);

} // namespace gossamer::compute::libtorch
