// Arbitrary bytes, as they are and with a checksum that fits, are refused or form a consistent packet.
#include "support/packets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span{data, size});
  gossamer::test::survives(bytes);
  gossamer::test::survives(gossamer::test::resealed({bytes.begin(), bytes.end()}));
  return 0;
}
