#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace gossamer::apps {

/// Returns the default folder of this user's fetched data.
/// @error errc::usage when the environment does not say where caches are
std::filesystem::path cache_folder();

/// "8MB/s" is 8e6, "1.5MiB/s" is 1.5 * 2^20, "64kB/s" 64,000, "64kb/s" 8,000; "/s" of bytes may be left out, and so may
/// their unit.
/// @error errc::usage for anything else, and outside of [1, 1e15]
double parse_byte_rate(std::string_view flag, std::string_view text);

} // namespace gossamer::apps
