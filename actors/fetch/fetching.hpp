#pragma once

#include "gossamer/actors/fetch/cache.hpp"
#include "gossamer/actors/fetch/catalogue.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace gossamer::actors {

/// Settings of a node that fetches the data of a run.
struct fetching_settings {
  std::filesystem::path cache; ///< folder of a `data_cache`
  double bytes_per_second = std::numeric_limits<double>::infinity();
};

/// The source cannot be asked any more.
struct source_lost {
  std::string why; ///< worded to follow its name
};

/// A message from a source, or about it.
struct file_news {
  std::uint32_t source = 0;
  std::variant<file_catalogue, piece, source_lost> what;
};

/// The connection to the sources, without their actors.
struct file_talk {
  std::vector<std::string> sources; ///< names for people, by number; the first source is trusted, if it answers
  std::size_t first =
      0; ///< any number; different nodes choose different ones, so that they do not all ask the same source
  std::function<void(std::uint32_t source)> ask_for_all; ///< once for each source
  std::function<void(std::uint32_t source, const piece_request&)> ask_for_piece;
  /// Returns the next news within this time, if there are any. @error a reason to end the fetching, such as an
  /// interrupt
  std::function<std::optional<file_news>(std::chrono::nanoseconds)> hear;
  std::function<fetch::time()> now;
  std::function<void(const std::string&)> tell; ///< shows a line to the user
};

/// Fetches the files that the cache lacks, and returns the paths of all. Up to four sources are asked at a time. When
/// one is lost, lacks a file, does not answer or sends wrong bytes, the others and the next go on. After a failure the
/// bytes so far stay in the cache, and the next attempt goes on from there.
/// @error errc::io if the cache cannot be written, errc::failed if no source is left; and the exceptions of `hear`
compute::data_files fetch_files(const fetching_settings& settings, const fetch_settings& how, const file_talk& talk);

} // namespace gossamer::actors
