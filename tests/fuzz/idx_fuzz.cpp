// Any bytes are refused as the files of MNIST, or are consistent pictures. The first byte says how many of the next
// bytes are the file of labels.
#include "fuzz/data_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  if (size == 0)
    return 0;
  const auto files = fuzz::text_of(data + 1, size - 1);
  const auto labels = files.substr(0, data[0]);
  for (const std::string part : {"train", "t10k"}) {
    folder.write(part + "-labels-idx1-ubyte", labels);
    folder.write(part + "-images-idx3-ubyte", files.substr(labels.size()));
  }
  fuzz::load("idx:dir=" + folder.path());
  return 0;
}
