#include "gossamer/actors/collectives/route.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>

namespace gossamer::actors {

std::vector<parameter> with_collective(std::vector<parameter> own) {
  own.push_back({.key = "collective",
                 .kind = parameter::type::choice,
                 .fallback = "ring",
                 .meaning = "the way of the all-reduce: one ring, rows and columns of a grid, recursive halving and "
                            "doubling, directly between all pairs, in two hops, or a star, whose centre, the first "
                            "worker, adds up like a server",
                 .choices = {"ring", "torus", "halving", "direct", "star"}});
  own.push_back({.key = "rows",
                 .kind = parameter::type::integer,
                 .fallback = "0",
                 .meaning = "of the torus, a divisor of the number of workers; 0: as square as it can be, as it is "
                            "too where losses leave workers that do not fill these rows",
                 .min = 0,
                 .max = 1e6});
  return own;
}

std::vector<parameter> with_ring_or_direct(std::vector<parameter> own) {
  own.push_back({.key = "collective",
                 .kind = parameter::type::choice,
                 .fallback = "ring",
                 .meaning = "the way of sums and packets: round a ring of all workers, or directly between all pairs, "
                            "where sums take 2 hops in place of 2(n-1), and packets 1 in place of n-1",
                 .choices = {"ring", "direct"}});
  return own;
}

route ring_or_direct(const arguments& given) { return given.is("collective", "direct") ? route::direct : route::ring; }

route collective_of(const arguments& given) {
  const auto rows = static_cast<route>(given.integer("rows"));
  if (given.is("collective", "torus"))
    return rows;
  if (rows != route::torus)
    throw error(errc::usage,
                fmt::format("algorithm '{}' is given rows={}, and its collective is no torus", given.resolved().name,
                            given.integer("rows")),
                "add collective=torus, or leave rows out");
  if (given.is("collective", "star"))
    return route::star;
  if (given.is("collective", "direct"))
    return route::direct;
  return given.is("collective", "halving") ? route::halving : route::ring;
}

} // namespace gossamer::actors
