#include "gossamer/compute/models/detail/entries.hpp"
#include "gossamer/compute/models/detail/neural_network.hpp"

#include <fmt/format.h>

namespace gossamer::compute::detail {

namespace {

std::unique_ptr<model> make_logistic(const arguments& given, const dataset& train) {
  require_classes("logistic", train);
  if (train.classes != 2)
    throw error(errc::usage,
                fmt::format("model 'logistic' tells two classes apart, and the data has {}", train.classes),
                "use softmax or mlp");
  return std::make_unique<neural_network>(neural_network_options{
      .widths = {train.features, 1}, .last = criterion::log_loss, .l1 = given.real32("l1"), .l2 = given.real32("l2")});
}

} // namespace

model_entry logistic_model() {
  return {.about = {.name = "logistic",
                    .summary = "logistic regression for two classes",
                    .maths = "loss(w, b; a, y) = log(1 + exp(-y (w.a + b))), y = -1 for class 0 and 1 "
                             "for class 1; begins at 0",
                    .cost = "4 operations per stored feature and sample",
                    .parameters = {l1_parameter(), l2_parameter()}},
          .make = make_logistic};
}

} // namespace gossamer::compute::detail
