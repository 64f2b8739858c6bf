// Any bytes, as an .npz file and as an array in one, are refused, or are arrays within the limits that are written and
// read back alike.
#include "gossamer/compute/npz.hpp"

#include <cstring>
#include <zip.h>

#include "fuzz/target.hpp"

namespace gossamer::fuzz {
namespace {

bool same(const compute::named_tensor& a, const compute::named_tensor& b) {
  return a.name == b.name && a.shape == b.shape && a.values.size() == b.values.size()
         && (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0);
}

/// Reads an archive. It is refused as damaged, or its arrays are written and read back alike.
void read(const std::string& path, const std::string& again) {
  constexpr compute::npz_limits limits{.most_bytes = 1u << 20, .most_arrays = 8};
  std::vector<compute::named_tensor> arrays;
  accepts({errc::bad_data}, [&] { arrays = compute::read_npz(path, limits); });
  std::size_t bytes = 0;
  for (const auto& a : arrays)
    bytes += a.values.size() * sizeof(float);
  GOSSAMER_ASSERT(bytes <= limits.most_bytes, "the limit holds");
  if (arrays.empty())
    return;
  compute::write_npz(again, arrays);
  GOSSAMER_ASSERT(std::ranges::equal(compute::read_npz(again), arrays, same), "what was read is written");
}

/// Writes an archive of one file.
void pack(const std::string& path, const std::uint8_t* data, std::size_t size) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  zip_set_file_compression(
      archive, static_cast<zip_uint64_t>(zip_file_add(archive, "a.npy", zip_source_buffer(archive, data, size, 0), 0)),
      ZIP_CM_STORE, 0);
  GOSSAMER_ASSERT(zip_close(archive) == 0, "an archive is written");
}

} // namespace
} // namespace gossamer::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto path = folder.write("read.npz", fuzz::text_of(data, size)), again = folder.path() + "/written.npz";
  fuzz::read(path, again);
  fuzz::pack(path, data, size); // without this, checksums keep most changes from reaching arrays
  fuzz::read(path, again);
  return 0;
}
