#pragma once

#include "gossamer/actors/worker/algorithm.hpp"
#include "gossamer/compute/dataset.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <string_view>

namespace gossamer::actors {

/// Returns the learning rate of a run that names none: the algorithm's own, or else a multiple of what the optimiser
/// suggests, lr * max(1, min(n, 800 / E||x||^2)), with two digits. The multiple is 1 for targets that are no classes
/// and for algorithms whose traits say so.
///
/// With n workers each does one of n steps of an epoch, hence the factor n (Goyal et al., Accurate, large minibatch
/// SGD, 2017). Large features x bound it: softmax regression is E||x||^2 / 2 smooth, so heavy ball with beta = 0.9 is
/// stable for lr < 2 (1 + beta) / (E||x||^2 / 2), which is 760 / E||x||^2 times its suggestion 0.01.
/// bench/learning_rates.py measures the rule.
///
/// Cost: reads at most 1024 samples. Equal on all machines.
/// @param workers with which the run begins
double default_lr(const algorithm_traits& traits, std::string_view optimiser, const compute::dataset& train,
                  std::size_t workers, const registry<compute::optimiser_entry>& known = compute::optimisers());

} // namespace gossamer::actors
