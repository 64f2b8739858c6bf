#include "gossamer/compute/data/detail/file_bytes.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <libdeflate.h>
#include <memory>

namespace gossamer::compute::detail {

namespace {

constexpr std::string_view gzip_begins = "\x1f\x8b";
constexpr std::size_t least_room = 1 << 16; ///< added where there was too little
constexpr std::string_view limit_remedy = "limit=..., in GiB, in --data allows more";

/// The size of the last member of a gzip file, as its end tells, and not more than most files unpack to: more is to be
/// proved by unpacking.
std::uint64_t likely_size(std::string_view packed) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(packed.size(), 4); ++i)
    size = size << 8 | static_cast<std::uint8_t>(packed[packed.size() - 1 - i]);
  return std::min<std::uint64_t>(size, 8 * packed.size());
}

/// Unpacks all members of a gzip file: `cat a.gz b.gz` is a gzip file, too.
std::string unpack(const std::string& path, std::string_view packed, std::uint64_t most_bytes) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> with{
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor};
  if (!with)
    throw std::bad_alloc{};
  std::string bytes(std::min(likely_size(packed), most_bytes), '\0');
  for (std::size_t fed = 0, size = 0;;) {
    std::size_t taken = 0, made = 0;
    const auto status = libdeflate_gzip_decompress_ex(with.get(), packed.data() + fed, packed.size() - fed,
                                                      bytes.data() + size, bytes.size() - size, &taken, &made);
    if (status == LIBDEFLATE_INSUFFICIENT_SPACE && bytes.size() == most_bytes)
      throw error(errc::bad_data, fmt::format("'{}' is larger than {} when unpacked", path, byte_count(most_bytes)),
                  std::string{limit_remedy});
    if (status == LIBDEFLATE_INSUFFICIENT_SPACE) {
      bytes.resize(std::min<std::uint64_t>(2 * bytes.size() + least_room, most_bytes));
      continue;
    }
    if (status != LIBDEFLATE_SUCCESS)
      throw error(errc::bad_data,
                  fmt::format("'{}', byte {}: the gzip data that begin here are truncated or corrupt", path, fed),
                  "fetch the file again");
    fed += taken;
    size += made;
    if (packed.find_first_not_of('\0', fed) == std::string_view::npos) {
      bytes.resize(size); // the zeros are those of copies by blocks, as of tapes
      return bytes;
    }
    if (!gzip_begins.starts_with(packed.substr(fed, gzip_begins.size())))
      throw error(errc::bad_data,
                  fmt::format("'{}', byte {}: what follows the gzip data is neither more of it nor zeros", path, fed),
                  "fetch the file again, or cut off what follows");
  }
}

} // namespace

file_bytes file_bytes::read(std::string path, std::uint64_t most_bytes) {
  file_bytes file;
  file.path_ = std::move(path);
  file.bytes_ = read_file(file.path_, {.noun = {}, .most_bytes = most_bytes, .remedy = std::string{limit_remedy}});
  file.unpacked_ = file.bytes_.starts_with(gzip_begins);
  if (file.unpacked_)
    file.bytes_ = unpack(file.path_, file.bytes_, most_bytes);
  return file;
}

namespace {

/// True if the file does not exist. A file that cannot be examined counts as present: a read says why.
bool is_absent(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
}

} // namespace

std::string file_bytes::find(const std::string& folder, std::string_view name) {
  const auto plain = (std::filesystem::path(folder) / name).string();
  return is_absent(plain) && !is_absent(plain + ".gz") ? plain + ".gz" : plain;
}

file_bytes file_bytes::read_found(std::string path, std::uint64_t most_bytes, std::string_view remedy) {
  if (is_absent(path))
    throw error(errc::io,
                fmt::format("cannot read '{}' or '{}.gz': {}", path, std::filesystem::path(path).filename().string(),
                            std::strerror(ENOENT)),
                std::string{remedy});
  return read(std::move(path), most_bytes);
}

byte_features features_in(std::shared_ptr<const file_bytes> file, std::size_t first, std::size_t count) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file->text().data());
  return {.all = {bytes + first, count}, .owner = std::move(file)};
}

parameter file_limit_parameter() {
  return {.key = "limit",
          .kind = parameter::type::real,
          .fallback = "4",
          .meaning = "the largest file that is read, in GiB, also when unpacked",
          .min = 1e-9,
          .max = 1e6};
}

std::uint64_t file_limit(const arguments& given) {
  constexpr double gib = std::uint64_t{1} << 30;
  return static_cast<std::uint64_t>(given.real("limit") * gib);
}

std::uint32_t file_bytes::big_endian(std::size_t offset) const noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | (*this)[offset + i];
  return value;
}

void file_bytes::fail(std::size_t offset, std::string_view what) const {
  throw error(errc::bad_data,
              fmt::format("'{}', byte {}{}: {}", path_, offset, unpacked_ ? " when unpacked" : "", what));
}

std::vector<std::string> file_names(const std::string& folder) {
  std::error_code problem;
  std::vector<std::string> names;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, problem); !problem && at != end; at.increment(problem))
    names.push_back(at->path().filename().string());
  if (problem)
    throw error(errc::io, fmt::format("cannot read {}: {}", folder, problem.message()));
  std::ranges::sort(names);
  return names;
}

} // namespace gossamer::compute::detail
