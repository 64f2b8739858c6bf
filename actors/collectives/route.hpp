#pragma once

#include "gossamer/base/registry.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace gossamer::actors {

/// The way that segments take: along the rows and columns of a grid with this number of rows. Some ways have names:
enum class route : std::size_t {
  torus = 0,                                            ///< as many rows as make the grid most square
  ring = 1,                                             ///< one ring of all members
  direct = std::numeric_limits<std::size_t>::max() - 2, ///< all members are centres of stars, each of its segment's
  star = std::numeric_limits<std::size_t>::max() - 1, ///< the first member gets all parts, and sends the result to all
  halving = std::numeric_limits<std::size_t>::max(),  ///< a grid of as many dimensions as possible
};

/// An algorithm's own parameters, followed by those of the route, `collective` and `rows`.
std::vector<parameter> with_collective(std::vector<parameter> own = {});
/// @error errc::usage on rows of a ring
route collective_of(const arguments& given);

/// The same with `collective` alone, for algorithms that take one of two ways.
std::vector<parameter> with_ring_or_direct(std::vector<parameter> own = {});
route ring_or_direct(const arguments& given);

} // namespace gossamer::actors
