#include "gossamer/actors/fetch/served_files.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace gossamer::actors {

namespace {

constexpr std::size_t pieces_a_look = 64;

error unreadable(const std::string& path, std::string_view why) {
  return {errc::io, fmt::format("cannot hand on '{}': {}", path, why), "copy the data to the other machine by hand"};
}

/// Rejects other files: reading a pipe might wait, and would empty it.
const std::string& require_regular(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem))
    throw unreadable(path, problem ? problem.message() : "it is no regular file");
  return path;
}

/// A file that is open for reading.
class reader {
public:
  explicit reader(const std::string& path) : path_(require_regular(path)), in_(path, std::ios::binary) {
    if (!in_)
      throw unreadable(path, "it cannot be opened");
  }
  /// Returns as many bytes as there are, up to a piece.
  std::string piece_at(std::uint64_t offset) {
    std::string bytes(piece_bytes, '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (in_.bad())
      throw unreadable(path_, "it cannot be read");
    bytes.resize(static_cast<std::size_t>(in_.gcount()));
    return bytes;
  }

private:
  std::string path_;
  std::ifstream in_;
};

} // namespace

const file_catalogue* served_files::look_on() {
  if (catalogue_)
    return &*catalogue_;
  if (!reading_)
    begin();
  try {
    if (*reading_ < files_.size() && read_on(files_[*reading_]))
      ++*reading_;
  } catch (...) {
    reading_.reset(); // a later attempt may succeed
    throw;
  }
  if (*reading_ < files_.size())
    return nullptr;
  describe();
  return &*catalogue_;
}

void served_files::begin() {
  files_.clear();
  for (const auto& [role, path] : find_())
    files_.push_back({role, path, {}});
  reading_ = 0;
}

/// @returns whether the file has been read to its end
bool served_files::read_on(served& one) const {
  reader from{one.path};
  for (std::size_t k = 0; k < pieces_a_look; ++k) {
    const auto bytes = from.piece_at(one.known.size());
    if (one.known.size() + bytes.size() > most_file_bytes)
      throw unreadable(one.path, fmt::format("it is larger than {}", byte_count(most_file_bytes)));
    if (!bytes.empty())
      one.known.add(bytes);
    if (bytes.size() < piece_bytes) {
      one.known.finish();
      return true;
    }
  }
  return false;
}

void served_files::describe() {
  catalogue_.emplace();
  for (const auto& [role, path, known] : files_)
    catalogue_->files.push_back(
        {role, known.size(), std::string{known.whole().raw()}, std::string{known.root().raw()}});
}

std::string served_files::piece_of(const piece_id& what) {
  if (!catalogue_ || what.file >= files_.size())
    throw error(errc::bad_packet, fmt::format("file {} is asked for, which there is not", what.file));
  const auto& [role, path, known] = files_[what.file];
  const piece_tree tree{known.size()};
  if (!tree.has(what.level, what.index))
    throw error(errc::bad_packet,
                fmt::format("piece {} of level {} is asked for, which there is not", what.index, what.level));
  if (what.level > 0)
    return std::string{known.piece(what.level, what.index)};
  auto bytes = reader{path}.piece_at(what.index * piece_bytes);
  if (digest_of(bytes).raw() != known.digest_of_piece(what.index))
    throw unreadable(path, "it has changed since it was first asked for");
  return bytes;
}

bool unreceived::admit(std::uint64_t shown, std::uint64_t drawn) {
  under_way_.erase(shown);
  return under_way_.size() < most && under_way_.insert(drawn).second;
}

} // namespace gossamer::actors
