// Any bytes are refused as LIBSVM's text, or are consistent rows.
#include "fuzz/data_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto path = folder.write("rows", fuzz::text_of(data, size));
  for (const std::string more : {"", ",task=regression", ",features=7"})
    fuzz::load("libsvm:train=" + path + more);
  fuzz::load("libsvm:train=" + path + ",test=" + path);
  return 0;
}
