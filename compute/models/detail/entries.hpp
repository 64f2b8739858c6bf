#pragma once

#include "gossamer/compute/model.hpp"

namespace gossamer::compute::detail {

// Functions rather than objects, so that the table does not depend on the order in which files are initialised.
model_entry quadratic_model();
model_entry linear_model();
model_entry logistic_model();
model_entry softmax_model();
model_entry mlp_model();
model_entry cnn_model();
model_entry resnet_model();
model_entry vgg_model();
model_entry alexnet_model();
model_entry transformer_model();
model_entry torchscript_model();

/// The parameters that models share: l1 and l2.
parameter l1_parameter();
parameter l2_parameter();

/// @error errc::usage when the data has real targets; `name` is the model's
void require_classes(std::string_view name, const dataset& data);
/// @error errc::usage when the data has classes
void require_real_targets(std::string_view name, const dataset& data);

} // namespace gossamer::compute::detail
