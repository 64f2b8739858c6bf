#pragma once

#include <exception>
#include <string>

namespace gossamer::compute::libtorch {

/// Returns e.g. "LibTorch 1.13": the one that this library was compiled with.
std::string libtorch_version();

/// Returns what LibTorch says, without the backtrace.
std::string text_of(const std::exception& e);

/// Returns the first three lines in one, of at most 300 bytes, up to the place in the source.
std::string first_lines(const std::string& text);

/// Returns the part of a message about a computation that users understand: the line with the problem, without the
/// places in the sources of LibTorch or of the module; at most 300 bytes.
std::string gist(std::string text);

} // namespace gossamer::compute::libtorch
