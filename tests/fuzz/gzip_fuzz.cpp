// Any bytes are refused as a damaged gzip file, or are read to their end, with the same result twice.
#include "gossamer/compute/data/detail/file_bytes.hpp"

#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  using compute::detail::file_bytes;
  static const fuzz::scratch_folder folder;
  const auto bytes = fuzz::text_of(data, size);
  const auto path = folder.write("data", bytes);
  constexpr std::uint64_t most_bytes = 1u << 20; // less than some files of 4096 bytes unpack to
  fuzz::accepts({errc::bad_data}, [&] {
    const auto file = file_bytes::read(path, most_bytes);
    GOSSAMER_ASSERT(bytes.starts_with("\x1f\x8b") || file.text() == bytes, "what is not packed is left alone");
    GOSSAMER_ASSERT(file_bytes::read(path, most_bytes).text() == file.text(), "unpacking repeats itself");
  });
  return 0;
}
