#pragma once

#include "gossamer/actors/runtime/control.hpp"
#include "gossamer/actors/runtime/ledger.hpp"

namespace gossamer::actors {

/// chair -> nodes that vote, twice a second: what a successor could not ask anybody, because those are dead who knew it
struct chair_books {
  ledger counted;
  std::uint64_t lost = 0, returned = 0;
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, chair_books& m) {
  return f(m.counted, m.lost, m.returned);
}

} // namespace gossamer::actors
