// Any bytes are refused as a table, or are consistent rows, with any separator.
#include "fuzz/data_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gossamer;
  static const fuzz::scratch_folder folder;
  const auto path = folder.write("rows", fuzz::text_of(data, size));
  for (const std::string more : {"", ",separator=semicolon,header=yes", ",separator=tab,label=first,header=no",
                                 ",separator=space,task=regression,scale=none"})
    fuzz::load("csv:train=" + path + more);
  fuzz::load("csv:train=" + path + ",test=" + path);
  return 0;
}
