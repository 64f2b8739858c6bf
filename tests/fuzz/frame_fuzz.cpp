// Arbitrary bytes, as they are and with checksums that fit, are refused or form a consistent frame.
#include "support/frames.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  gossamer::test::survives_as_frame(bytes);
  gossamer::test::survives_as_frame(gossamer::test::resealed_frame({bytes.begin(), bytes.end()}));
  return 0;
}
