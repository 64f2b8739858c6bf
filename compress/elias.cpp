#include "gossamer/compress/elias.hpp"

#include "gossamer/compress/detail/checks.hpp"

namespace gossamer::compress::elias {
namespace {

/// Reads the rest of n > 1, whose leading one has been read.
std::uint64_t take_rest(bit_reader& in, std::uint64_t log2) {
  if (log2 > 63)
    throw compress::detail::bad_packet("a bit stream holds a number of more than 64 bits");
  return std::uint64_t{1} << log2 | in.take(static_cast<int>(log2));
}

} // namespace

namespace detail {

std::uint64_t read_gamma(bit_reader& in) { return take_rest(in, static_cast<std::uint64_t>(in.take_zeros())); }

std::uint64_t read_omega(bit_reader& in) {
  std::uint64_t n = 1;
  while (in.take(1) == 1)
    n = take_rest(in, n);
  return n;
}

} // namespace detail

} // namespace gossamer::compress::elias
