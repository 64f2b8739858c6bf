#pragma once

#include "gossamer/actors/protocol/real.hpp"
#include "gossamer/actors/protocol/steps.hpp"
#include "gossamer/actors/worker/life_range.hpp"

#include <limits>

namespace gossamer::actors {

// Messages about the mean of all models.

/// leader -> worker; answered by snapshot
struct snapshot_request {
  std::uint64_t evaluation = 0;
};

/// node -> leader: all of a snapshot except the model, which the node has put aside
struct snapshot_taken {
  rank source = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t evaluation = 0, gradients = 0;
  traffic sent;
};

inline snapshot_taken without_model(const snapshot& s) {
  return {s.source, s.incarnation, s.evaluation, s.gradients, s.sent};
}

/// leader -> node: the nodes shall form the mean of the models of these lives (`mean_gathering`)
struct mean_request {
  std::uint64_t number = 0; ///< ascending; an evaluation is asked for again when nodes are lost
  std::uint64_t evaluation = 0;
  std::uint32_t root = 0; ///< the node that gets the mean
  std::vector<life_range> lives;
};

/// leader -> node: what an evaluation has found; for models that `hear` of it
struct mean_evaluated {
  real epoch = 0.0;
  real train_loss = std::numeric_limits<double>::quiet_NaN();    ///< not a number: none
  real test_loss = std::numeric_limits<double>::quiet_NaN();     ///< likewise
  real test_accuracy = std::numeric_limits<double>::quiet_NaN(); ///< likewise
};

template <class Inspector>
decltype(auto) inspect(Inspector& f, snapshot_request& m) {
  return f(m.evaluation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, snapshot_taken& m) {
  return f(m.source, m.incarnation, m.evaluation, m.gradients, m.sent);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, life_range& r) {
  return f(r.first, r.ranks, r.incarnation);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, mean_request& m) {
  return f(m.number, m.evaluation, m.root, m.lives);
}
template <class Inspector>
decltype(auto) inspect(Inspector& f, mean_evaluated& m) {
  return f(m.epoch, m.train_loss, m.test_loss, m.test_accuracy);
}

} // namespace gossamer::actors
