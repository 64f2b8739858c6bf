#include "gossamer/compute/npz.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"
#include "gossamer/base/within_memory.hpp"
#include "gossamer/compute/detail/npy.hpp"
#include "gossamer/compute/detail/zip_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <zip.h>

namespace gossamer::compute {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in memory");

constexpr std::string_view suffix = ".npy";
constexpr std::string_view how_to_write = "write it with numpy.savez, from arrays of float32 or float64";
constexpr std::string_view fetch_again = "fetch or write the file again";
constexpr std::uint64_t most_name_bytes = 4096;

struct close_entry {
  void operator()(zip_file_t* entry) const noexcept { zip_fclose(entry); }
};
struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using entry_handle = std::unique_ptr<zip_file_t, close_entry>;

/// An error of libzip that has no archive yet.
class zip_problem {
public:
  zip_problem() { zip_error_init(&error_); }
  explicit zip_problem(int code) { zip_error_init_with_code(&error_, code); }
  zip_problem(const zip_problem&) = delete;
  zip_problem& operator=(const zip_problem&) = delete;
  ~zip_problem() { zip_error_fini(&error_); }

  zip_error_t* get() noexcept { return &error_; }
  int code() const noexcept { return zip_error_code_zip(&error_); }
  std::string text() { return zip_error_strerror(&error_); }

private:
  zip_error_t error_{};
};

// -- writing ----------------------------------------------------------------------------------------------------------

[[noreturn]] void cannot_write(const std::string& path, std::string_view reason) {
  throw error(errc::io, fmt::format("cannot write '{}': {}", path, reason),
              "see to it that its folder exists, may be written to and has room");
}

/// Names the tensor's file in the archive. Its content is read when the archive is closed.
/// @param prefix must stay where it is until then
void add_tensor(zip_t* archive, const std::string& path, const named_tensor& t, const std::string& prefix) {
  GOSSAMER_ASSERT(detail::element_count(t.shape, t.values.size()) == t.values.size(),
                  "the shape is that of the values");
  const std::array<zip_buffer_fragment_t, 2> parts{
      {{reinterpret_cast<zip_uint8_t*>(const_cast<char*>(prefix.data())), prefix.size()},
       {reinterpret_cast<zip_uint8_t*>(const_cast<float*>(t.values.data())), t.values.size() * sizeof(float)}}};
  constexpr int owned_by_caller = 0;
  zip_source_t* source = zip_source_buffer_fragment(archive, parts.data(), parts.size(), owned_by_caller);
  const auto index =
      source == nullptr ? -1 : zip_file_add(archive, (t.name + std::string{suffix}).c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    const std::string reason = zip_strerror(archive);
    zip_source_free(source);
    cannot_write(path, reason);
  }
  constexpr zip_uint16_t midnight = 0, first_of_1980 = 1 << 5 | 1; // as NumPy writes
  const auto at = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) != 0
      || zip_file_set_dostime(archive, at, midnight, first_of_1980, 0) != 0)
    cannot_write(path, zip_strerror(archive));
}

// -- reading ----------------------------------------------------------------------------------------------------------

/// Reads the bytes of one file in the archive, from its beginning to its end.
class entry_reader {
public:
  entry_reader(zip_t* archive, std::uint64_t index) : file_(zip_fopen_index(archive, index, 0)) {
    if (!file_)
      throw error(errc::bad_data, fmt::format("it cannot be unpacked ({})", zip_strerror(archive)),
                  std::string{fetch_again});
  }

  /// Reads until `to` is full or the file ends, where libzip compares the checksum.
  std::size_t read(char* to, std::size_t room) {
    std::size_t size = 0;
    while (size < room) {
      const auto got = zip_fread(file_.get(), to + size, room - size);
      if (got < 0)
        throw error(errc::bad_data, fmt::format("it is damaged ({})", zip_file_strerror(file_.get())),
                    std::string{fetch_again});
      if (got == 0)
        break;
      size += static_cast<std::size_t>(got);
    }
    return size;
  }

  void read_all(char* to, std::size_t size) {
    if (read(to, size) != size)
      throw error(errc::bad_data, "it ends before its header or its elements do", std::string{fetch_again});
  }

  void expect_end() {
    char more = 0;
    if (read(&more, 1) != 0)
      throw error(errc::bad_data, "it goes on after its elements", std::string{fetch_again});
  }

private:
  entry_handle file_;
};

detail::npy_header read_header(entry_reader& from, std::uint64_t& bytes) {
  std::string prefix(detail::npy_start_bytes, '\0');
  from.read_all(prefix.data(), prefix.size());
  bytes = detail::npy_prefix_bytes(prefix);
  const auto start = prefix.size();
  prefix.resize(std::max<std::size_t>(bytes, start));
  from.read_all(prefix.data() + start, prefix.size() - start);
  return detail::parse_npy_prefix(prefix);
}

/// Appends the elements. @param to may have room for all already
template <class Element>
void read_elements(entry_reader& from, std::uint64_t count, large_vector<float>& to) {
  std::array<Element, 1 << 13> part;
  while (to.size() < count) {
    const auto size = std::min<std::uint64_t>(part.size(), count - to.size());
    from.read_all(reinterpret_cast<char*>(part.data()), size * sizeof(Element));
    std::ranges::transform(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size), std::back_inserter(to),
                           [](Element x) { return static_cast<float>(x); });
  }
  from.expect_end();
}

auto elements_of(const detail::npy_header& header) {
  switch (header.element_bytes) {
  case 1:
    return header.kind == 'i' ? read_elements<std::int8_t> : read_elements<std::uint8_t>;
  case 2:
    return header.kind == 'i' ? read_elements<std::int16_t> : read_elements<std::uint16_t>;
  case 4:
    return header.kind == 'f'   ? read_elements<float>
           : header.kind == 'i' ? read_elements<std::int32_t>
                                : read_elements<std::uint32_t>;
  default:
    return header.kind == 'f'   ? read_elements<double>
           : header.kind == 'i' ? read_elements<std::int64_t>
                                : read_elements<std::uint64_t>;
  }
}

/// Reorders the elements of an array whose first index runs fastest, so that the last one does.
large_vector<float> row_major(const large_vector<float>& values, const std::vector<std::size_t>& shape) {
  large_vector<float> result(values.size(), values.get_allocator());
  std::vector<std::size_t> index(shape.size(), 0), steps(shape.size(), 1); // steps: from one element to the next
  for (std::size_t k = shape.size() - 1; k-- > 0;)
    steps[k] = steps[k + 1] * shape[k + 1];
  std::size_t at = 0;
  for (const float x : values) {
    result[at] = x;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      at += steps[k];
      if (++index[k] < shape[k])
        break;
      at -= steps[k] * shape[k];
      index[k] = 0;
    }
  }
  return result;
}

/// @param bytes size that the archive claims
/// @param most_bytes size that its packed bytes can have
void read_array(entry_reader from, std::uint64_t bytes, std::uint64_t most_bytes, named_tensor& t) {
  std::uint64_t prefix = 0;
  auto header = read_header(from, prefix);
  const auto count = detail::element_count(header.shape, bytes / header.element_bytes);
  if (bytes < prefix || bytes - prefix != count * header.element_bytes)
    throw error(errc::bad_data,
                fmt::format("{} is not the size of an array of shape {} and {} bytes an element", byte_count(bytes),
                            detail::tuple_text(header.shape), header.element_bytes),
                std::string{fetch_again});
  t.values.reserve(std::min(count, most_bytes / header.element_bytes)); // a vector that grows is copied
  elements_of(header)(from, count, t.values);
  if (header.fortran_order && header.shape.size() > 1)
    t.values = row_major(t.values, header.shape);
  t.shape = std::move(header.shape);
}

/// The bytes of an archive: read as they are needed from a regular file, and all at once from a pipe.
class archive_bytes {
public:
  archive_bytes(const std::string& path, const npz_limits& limits) {
    std::error_code of_looking; // a later read says why
    if (!std::filesystem::is_regular_file(path, of_looking)) {
      pipe_ = read_file(path, {.noun = {}, .most_bytes = limits.most_bytes, .remedy = std::string{too_large}});
      start_ = pipe_.substr(0, start_bytes);
      return;
    }
    file_.reset(std::fopen(path.c_str(), "rbe"));
    struct stat about {};
    if (!file_ || fstat(fileno(file_.get()), &about) != 0)
      throw error(errc::io, fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    if (static_cast<std::uint64_t>(about.st_size) > limits.most_bytes)
      throw error(errc::bad_data, fmt::format("'{}' is larger than {}", path, byte_count(limits.most_bytes)),
                  std::string{too_large});
    start_.resize(start_bytes);
    start_.resize(std::fread(start_.data(), 1, start_bytes, file_.get()));
    std::rewind(file_.get());
  }

  std::string_view start() const noexcept { return start_; }

  /// Gives the file to libzip, which owns it then. May be called once. @returns null with a problem
  zip_source_t* source(zip_problem& problem) {
    constexpr int owned_by_caller = 0;
    if (!file_)
      return zip_source_buffer_create(pipe_.data(), pipe_.size(), owned_by_caller, problem.get());
    constexpr zip_int64_t to_the_end = -1;
    zip_source_t* result = zip_source_filep_create(file_.get(), 0, to_the_end, problem.get());
    if (result != nullptr)
      static_cast<void>(file_.release());
    return result;
  }

private:
  static constexpr std::string_view too_large = "an array may be left out";
  static constexpr std::size_t start_bytes = 8;

  std::string pipe_, start_;
  std::unique_ptr<std::FILE, close_file> file_;
};

/// An .npz file.
class archive_reader {
public:
  archive_reader(const std::string& path, const npz_limits& limits, const mapped_allocator<float>& memory)
      : path_(path), limits_(limits), memory_(memory), bytes_(path, limits) {
    if (bytes_.start().empty()) // libzip takes an empty file for an archive
      refuse("it is empty", how_to_write);
    zip_problem problem;
    zip_source_t* source = bytes_.source(problem);
    if (source == nullptr)
      refuse(problem);
    archive_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, problem.get()));
    if (!archive_) {
      zip_source_free(source);
      refuse(problem);
    }
  }

  std::vector<named_tensor> read() {
    const auto entries = static_cast<std::uint64_t>(zip_get_num_entries(archive_.get(), 0));
    if (entries > limits_.most_arrays)
      refuse(fmt::format("it holds {} arrays; allowed: {}", entries, limits_.most_arrays), "leave some out");
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < entries; ++i) // before the first array is unpacked
      check(i, total);
    std::vector<named_tensor> result;
    for (std::uint64_t i = 0; i < entries; ++i)
      result.push_back(read_entry(i));
    return result;
  }

private:
  zip_stat_t about(std::uint64_t i) {
    zip_stat_t about;
    constexpr auto needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(archive_.get(), i, 0, &about) != 0 || (about.valid & needed) != needed)
      refuse(fmt::format("entry {} of the archive is damaged", i), fetch_again);
    return about;
  }

  void check(std::uint64_t i, std::uint64_t& total) {
    const auto entry = about(i);
    const std::string_view name{entry.name};
    if (name.size() > most_name_bytes)
      refuse(fmt::format("the name of entry {} has {} bytes; allowed: {}", i, name.size(), most_name_bytes),
             how_to_write);
    if (!name.ends_with(suffix))
      refuse(fmt::format("'{}' in it is no array (NAME.npy)", name), how_to_write);
    if (!names_.insert(std::string{name}).second)
      refuse(fmt::format("it holds '{}' twice", name), how_to_write);
    if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE)
      refuse(fmt::format("'{}' in it is packed with method {}; allowed: 0 (stored) and 8 (deflated)", name,
                         entry.comp_method),
             how_to_write);
    if (entry.size > limits_.most_bytes - total)
      refuse(fmt::format("its arrays are larger than {} when unpacked", byte_count(limits_.most_bytes)),
             "an array may be left out");
    total += entry.size;
  }

  named_tensor read_entry(std::uint64_t i) {
    const auto entry = about(i);
    named_tensor result{.name = entry.name, .shape = {}, .values = large_vector<float>(memory_)};
    result.name.resize(result.name.size() - suffix.size());
    try {
      read_array(entry_reader{archive_.get(), i}, entry.size, most_unpacked(entry), result);
    } catch (const error& problem) {
      if (problem.code() != errc::bad_data) // no memory for the array
        throw;
      refuse(fmt::format("array '{}': {}", result.name, problem.sentence()), problem.remedy());
    }
    return result;
  }

  /// Deflate makes at most 1032 bytes of one; libzip has checked that the packed bytes lie in the file.
  static std::uint64_t most_unpacked(const zip_stat_t& entry) {
    constexpr std::uint64_t most_of_one = 1032;
    return entry.comp_size > entry.size / most_of_one ? entry.size : entry.comp_size * most_of_one;
  }

  [[noreturn]] void refuse(std::string_view what, std::string_view remedy) const {
    throw error(errc::bad_data, fmt::format("'{}': {}", path_, what), std::string{remedy});
  }
  [[noreturn]] void refuse(zip_problem& problem) const {
    if (problem.code() == ZIP_ER_MEMORY)
      throw std::bad_alloc{};
    if (bytes_.start().starts_with("\x93NUMPY"))
      refuse("it is a single array (.npy), not an .npz file", "write it with numpy.savez(FILE, NAME=array, ...)");
    refuse(fmt::format("it is no .npz file, or a damaged one ({})", problem.text()), how_to_write);
  }

  const std::string& path_;
  const npz_limits& limits_;
  const mapped_allocator<float>& memory_;
  archive_bytes bytes_;
  detail::archive_handle archive_;
  std::set<std::string> names_;
};

} // namespace

void write_npz(const std::string& path, std::span<const named_tensor> tensors) {
  GOSSAMER_ASSERT(!tensors.empty(), "there is something to write");
  int reason = 0;
  detail::archive_handle archive{zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &reason)};
  if (!archive)
    cannot_write(path, zip_problem{reason}.text());
  std::vector<std::string> prefixes;
  prefixes.reserve(tensors.size()); // so that the prefixes stay where they are
  for (const auto& t : tensors)
    add_tensor(archive.get(), path, t, prefixes.emplace_back(detail::npy_prefix(t.shape)));
  if (zip_close(archive.get()) != 0) // writes beside the file and renames
    cannot_write(path, zip_strerror(archive.get()));
  static_cast<void>(archive.release()); // a closed archive is freed
}

std::vector<named_tensor> read_npz(const std::string& path, const npz_limits& limits,
                                   const mapped_allocator<float>& memory) {
  return within_memory(fmt::format("reading '{}'", path), "give it more memory, or a smaller file", [&] {
    return archive_reader{path, limits, memory}.read();
  });
}

} // namespace gossamer::compute
