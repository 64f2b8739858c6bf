#include "gossamer/compute/models/detail/entries.hpp"
#include "gossamer/compute/models/detail/neural_network.hpp"

#include <algorithm>

namespace gossamer::compute::detail {

namespace {

std::unique_ptr<model> make_mlp(const arguments& given, const dataset& train) {
  std::vector<std::size_t> widths{train.features};
  for (const auto width : given.integers("hidden"))
    widths.push_back(static_cast<std::size_t>(width));
  widths.push_back(std::max<std::size_t>(train.classes, 1));
  return std::make_unique<neural_network>(
      neural_network_options{.widths = std::move(widths),
                             .hidden = given.is("activation", "relu") ? activation::relu : activation::tanh,
                             .last = train.classes == 0 ? criterion::squared_error : criterion::cross_entropy,
                             .l2 = given.real32("l2")});
}

} // namespace

model_entry mlp_model() {
  return {.about = {.name = "mlp",
                    .summary = "fully connected layers, for classes or real targets",
                    .maths = "a_l = activation(W_l^T a_(l-1) + b_l); the last layer as in softmax or linear; "
                             "begins at W_l ~ N(0, 2 / inputs), b_l = 0",
                    .reference = "initial point: He, Zhang, Ren, Sun, Delving deep into rectifiers, 2015",
                    .cost = "6 * parameters operations per sample, less the first layer's share of errors",
                    .parameters = {{.key = "hidden",
                                    .kind = parameter::type::integers,
                                    .fallback = "100",
                                    .meaning = "widths of the hidden layers",
                                    .min = 1,
                                    .max = 1e6},
                                   l2_parameter(),
                                   {.key = "activation",
                                    .kind = parameter::type::choice,
                                    .fallback = "relu",
                                    .meaning = "function between the layers",
                                    .choices = {"relu", "tanh"}}}},
          .make = make_mlp};
}

} // namespace gossamer::compute::detail
