#include "gossamer/compute/models/detail/entries.hpp"
#include "gossamer/compute/models/detail/neural_network.hpp"

namespace gossamer::compute::detail {

namespace {

std::unique_ptr<model> make_linear(const arguments& given, const dataset& train) {
  require_real_targets("linear", train);
  return std::make_unique<neural_network>(neural_network_options{.widths = {train.features, 1},
                                                                 .last = criterion::squared_error,
                                                                 .l1 = given.real32("l1"),
                                                                 .l2 = given.real32("l2")});
}

} // namespace

model_entry linear_model() {
  return {.about = {.name = "linear",
                    .summary = "least squares for real targets; ridge with l2, lasso with l1",
                    .maths = "loss(w, b; a, y) = (w.a + b - y)^2 / 2; begins at 0",
                    .cost = "4 operations per stored feature and sample",
                    .parameters = {l1_parameter(), l2_parameter()}},
          .make = make_linear};
}

} // namespace gossamer::compute::detail
