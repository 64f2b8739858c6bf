#pragma once

#include <string>

namespace gossamer::apps {

/// Returns the picture as PNG, made by the first program of these that is installed: rsvg-convert, inkscape, cairosvg,
/// magick, convert. They see files in a folder that is removed afterwards, and no shell sees a word.
/// @error errc::usage when none is installed; errc::failed with the program's last line when it makes no picture
std::string png_of(const std::string& svg);

} // namespace gossamer::apps
