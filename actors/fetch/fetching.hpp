#pragma once

#include "gossamer/actors/fetch/cache.hpp"
#include "gossamer/actors/fetch/catalogue.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace gossamer::actors {

/// How a node that lacks the data of a run gets them.
struct fetching_settings {
  std::filesystem::path cache; ///< folder of a `data_cache`
  double bytes_per_second = std::numeric_limits<double>::infinity();
};

/// It cannot be asked any more.
struct source_lost {
  std::string why; ///< to stand behind its name
};

/// What one of those says who have the files, or what is said of it.
struct file_news {
  std::uint32_t source = 0;
  std::variant<file_catalogue, piece, source_lost> what;
};

/// The way to those who have the files, without their actors.
struct file_talk {
  std::vector<std::string> sources; ///< what people call them, by number. The first is believed, if it says something
  std::size_t first = 0;            ///< any number: if others have other ones, they do not all ask the same source
  std::function<void(std::uint32_t source)> ask_for_all; ///< once each
  std::function<void(std::uint32_t source, const piece_request&)> ask_for_piece;
  /// What comes within so much time, if anything does. @error what ends the fetching, such as an interrupt
  std::function<std::optional<file_news>(std::chrono::nanoseconds)> hear;
  std::function<fetch::time()> now;
  std::function<void(const std::string&)> tell; ///< a line worth showing
};

/// Gets what the cache has not got yet, and says where everything lies then. Up to four sources are asked at a time;
/// when one is lost, lacks a file, does not answer or sends what is wrong, the others and the next go on. What has come
/// stays in the cache when it does not end well, and the next attempt goes on from there.
/// @error errc::io when the cache cannot be written, errc::failed when no source is left; and what `hear` throws
compute::data_files fetch_files(const fetching_settings& settings, const fetch_settings& how, const file_talk& talk);

} // namespace gossamer::actors
