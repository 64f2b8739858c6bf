#include "gossamer/compute/models/detail/entries.hpp"
#include "gossamer/compute/models/detail/neural_network.hpp"

namespace gossamer::compute::detail {

namespace {

std::unique_ptr<model> make_softmax(const arguments& given, const dataset& train) {
  require_classes("softmax", train);
  return std::make_unique<neural_network>(neural_network_options{.widths = {train.features, train.classes},
                                                                 .last = criterion::cross_entropy,
                                                                 .l1 = given.real32("l1"),
                                                                 .l2 = given.real32("l2")});
}

} // namespace

model_entry softmax_model() {
  return {.about = {.name = "softmax",
                    .summary = "multinomial logistic regression for any number of classes",
                    .maths = "loss(W, b; a, y) = log(sum_k exp z_k) - z_y, z = W^T a + b; begins at 0",
                    .cost = "4 * classes operations per stored feature and sample",
                    .parameters = {l1_parameter(), l2_parameter()}},
          .make = make_softmax};
}

} // namespace gossamer::compute::detail
