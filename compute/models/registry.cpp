#include "gossamer/base/check_entry.hpp"
#include "gossamer/compute/models/detail/entries.hpp"

#include <fmt/format.h>

#include <array>

namespace gossamer::compute {

const registry<model_entry>& models() {
  using namespace detail;
  static const std::array entries{quadratic_model(), linear_model(),      logistic_model(),   softmax_model(),
                                  mlp_model(),       cnn_model(),         resnet_model(),     vgg_model(),
                                  alexnet_model(),   transformer_model(), torchscript_model()};
  static const registry<model_entry> table{"model", entries};
  return table;
}

std::unique_ptr<model> make_model(std::string_view text, const dataset& train, const registry<model_entry>& known) {
  const auto [entry, values] = known.resolve(text);
  if (train.augmentation.changes_anything() && !entry.augments)
    throw error(errc::usage, fmt::format("model '{}' cannot augment the samples of the data", entry.about.name),
                "leave augment=yes out, or use cnn, resnet, vgg, alexnet or torchscript");
  auto made = entry.make(values, train);
  if (!made)
    throw made_nothing(known.what(), entry.about.name);
  return made;
}

std::vector<std::string> model::tensor_names() const {
  std::vector<std::string> names(tensors().size());
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = fmt::format("tensor{}", i);
  return names;
}

std::vector<std::vector<std::size_t>> model::tensor_sides() const {
  const auto all = tensors();
  const auto names = tensor_names();
  GOSSAMER_ASSERT(names.size() == all.size(), "each tensor has a name");
  std::vector<std::vector<std::size_t>> sides;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_vector = all[i].rows == 1 && !names[i].ends_with("weight"); // else it holds the weights of a single
                                                                              // input
    sides.push_back(is_vector ? std::vector{all[i].columns} : std::vector{all[i].rows, all[i].columns});
  }
  return sides;
}

std::function<gradient_and_loss()> model::start_gradient(const vec& x, const batch& samples) {
  gradient_and_loss result{vec{x.pool().allocate(x.size() * sizeof(float))}};
  result.loss = loss_and_gradient(x.view(), samples, result.gradient.overwrite());
  return [result = std::move(result)]() mutable { return std::move(result); };
}

void model::proximal_step(vec&, float) const {}

namespace detail {

parameter l1_parameter() {
  return {.key = "l1",
          .kind = parameter::type::real,
          .fallback = "0",
          .meaning = "factor of ||w||_1; the bias is left out",
          .min = 0,
          .max = 1e6};
}

parameter l2_parameter() {
  return {.key = "l2",
          .kind = parameter::type::real,
          .fallback = "0",
          .meaning = "factor of ||w||^2 / 2; the bias is left out",
          .min = 0,
          .max = 1e6};
}

void require_classes(std::string_view name, const dataset& data) {
  if (data.classes == 0)
    throw error(errc::usage, fmt::format("model '{}' tells classes apart, and the data has real targets", name),
                "use linear, or mlp, which does both");
}

void require_real_targets(std::string_view name, const dataset& data) {
  if (data.classes != 0)
    throw error(errc::usage,
                fmt::format("model '{}' predicts real targets, and the data has {} classes", name, data.classes),
                fmt::format("use {}; if the labels are amounts and no classes, add task=regression to the data",
                            data.classes == 2 ? "logistic, softmax or mlp" : "softmax or mlp"));
}

} // namespace detail
} // namespace gossamer::compute
