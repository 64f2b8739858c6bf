#include "gossamer/compress/bit_stream.hpp"

#include "gossamer/compress/detail/checks.hpp"

namespace gossamer::compress {

int bit_reader::take_zeros() {
  const int zeros = std::countr_zero(peek());
  if (zeros == 64)
    throw detail::bad_packet("a bit stream has more zeros before a number than any code begins with");
  skip(zeros + 1);
  return zeros;
}

void bit_reader::refuse_end() { throw detail::bad_packet("a bit stream ends within a number"); }

} // namespace gossamer::compress
