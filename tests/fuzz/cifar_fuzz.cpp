// Any bytes are refused as a batch of CIFAR-10, or are consistent pictures.
#include "fuzz/data_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto bytes = fuzz::text_of(data, size);
  folder.write("data_batch_1.bin", bytes);
  folder.write("test_batch.bin", bytes);
  fuzz::load("cifar10:dir=" + folder.path());
  return 0;
}
