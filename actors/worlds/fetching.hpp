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

/// What whoever has the files says.
using file_news = std::variant<file_catalogue, piece>;

/// The way to whoever has the files, without its actors.
struct file_talk {
  std::function<void(const catalogue_request&)> ask_for_all;
  std::function<void(const piece_request&)> ask_for_piece;
  /// What comes within so much time, if anything does. @error what ends the fetching: an interrupt, a lost leader
  std::function<std::optional<file_news>(std::chrono::nanoseconds)> hear;
  std::function<fetch::time()> now;
  std::function<void(const std::string&)> tell; ///< a line worth showing
};

/// Gets what the cache has not got yet, and says where everything lies then. What has come stays in the cache when it
/// does not end well, and the next attempt goes on from there.
/// @error errc::io when the cache cannot be written, errc::failed when the source does not answer or sends what is
///        wrong, errc::bad_packet when what it says cannot be; and what `hear` throws
compute::data_files fetch_files(const fetching_settings& settings, const fetch_settings& how, const file_talk& talk);

} // namespace gossamer::actors
