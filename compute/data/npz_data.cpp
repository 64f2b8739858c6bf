#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"
#include "gossamer/compute/data/detail/hold_out.hpp"
#include "gossamer/compute/data/detail/labelled.hpp"
#include "gossamer/compute/data/detail/larger_than_memory.hpp"
#include "gossamer/compute/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::compute::detail {

namespace {

constexpr float most_classes = 65536;
constexpr std::string_view how_to_write_samples =
    "numpy.savez(FILE, X=samples, y=labels) writes what is needed, with X_test and "
    "y_test if there are any";

/// The arrays of a file, by name.
class arrays {
public:
  arrays(std::string path, std::uint64_t most_bytes, const mapped_allocator<float>& memory)
      : path_(std::move(path)), all_(read_npz(path_, {.most_bytes = most_bytes}, memory)) {}

  named_tensor* find(std::string_view name) {
    const auto found = std::ranges::find(all_, name, &named_tensor::name);
    return found == all_.end() ? nullptr : &*found;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw error(errc::bad_data, fmt::format("'{}' {}", path_, what), std::string{how_to_write_samples});
  }

  /// The samples and targets of one part; the arrays are used up.
  dataset take(const std::string& x_name, const std::string& y_name) {
    auto* x = find(x_name);
    auto* y = find(y_name);
    if (x == nullptr || y == nullptr)
      refuse(fmt::format("has no array '{}'", x == nullptr ? x_name : y_name));
    if (x->shape.size() < 2 || x->values.empty())
      refuse(
          fmt::format("has '{}' of {} dimensions and {} numbers: one dimension must count samples, and more features",
                      x_name, x->shape.size(), x->values.size()));
    if (y->shape.size() > 1 && y->shape[0] == x->shape[0] && y->values.size() != x->shape[0])
      throw error(errc::bad_data,
                  fmt::format("'{}' has {} targets for each sample in '{}', and a sample has one", path_,
                              y->values.size() / y->shape[0], y_name),
                  "save one column of it, a class or a real number, or y.argmax(1) if each row has a single 1");
    if (y->values.size() != x->shape[0])
      refuse(
          fmt::format("has {} samples in '{}' and {} targets in '{}'", x->shape[0], x_name, y->values.size(), y_name));
    dataset data{.samples = x->shape[0], .features = x->values.size() / x->shape[0]};
    data.shape.assign(x->shape.begin() + 1, x->shape.end());
    if (data.shape.size() == 2) // pictures of one channel
      data.shape.insert(data.shape.begin(), 1);
    require_finite(x_name, x->values);
    require_finite(y_name, y->values);
    data.dense = std::move(x->values);
    data.targets = std::move(y->values);
    return data;
  }

private:
  void require_finite(const std::string& name, std::span<const float> values) const {
    const auto wrong = std::ranges::find_if_not(values, [](float v) { return std::isfinite(v); });
    if (wrong != values.end())
      refuse(fmt::format("has {} as element {} of '{}'", *wrong, wrong - values.begin(), name));
  }

  std::string path_;
  std::vector<named_tensor> all_;
};

/// Returns the first target that is none of the classes 0 to `classes` - 1.
std::span<const float>::iterator first_other(std::span<const float> targets, float classes) {
  return std::ranges::find_if_not(targets, [=](float v) { return v >= 0 && v < classes && v == std::floor(v); });
}

void name_classes(dataset& data, std::size_t classes) {
  data.classes = classes;
  for (std::size_t c = 0; c < classes; ++c)
    data.class_names.push_back(fmt::format("{}", c));
}

data_split load_npz(const arguments& given, const data_files& files, std::uint64_t seed) {
  arrays all{path_of(files, "arrays"), file_limit(given), sample_memory(given)};
  auto train = all.take("X", "y");
  train.shuffled_block = shuffled_block(given);
  const bool has_test = all.find("X_test") != nullptr || all.find("y_test") != nullptr;
  auto test = has_test ? all.take("X_test", "y_test") : dataset{};
  if (has_test && test.shape != train.shape)
    all.refuse(fmt::format("has samples of {} features in 'X' and of {} in 'X_test', or of another shape",
                           train.features, test.features));
  const std::span<const float> labels = train.targets, test_labels = test.targets;
  const bool whole = first_other(labels, most_classes) == labels.end();
  if (given.is("task", "classification") && !whole)
    all.refuse(fmt::format("has labels that are no whole numbers from 0 to {}", most_classes - 1));
  if (whole && !given.is("task", "regression")) {
    const auto classes = static_cast<std::size_t>(std::ranges::max(labels)) + 1;
    if (const auto wrong = first_other(test_labels, static_cast<float>(classes)); wrong != test_labels.end())
      all.refuse(fmt::format("has label {} in 'y_test', which is not in 'y': element {} must be a whole number from 0 "
                             "to {}; task=regression takes the labels as amounts",
                             *wrong, wrong - test_labels.begin(), classes - 1));
    if (classes < 2)
      all.refuse("has a single class; task=regression takes the labels as amounts");
    name_classes(train, classes);
    name_classes(test, classes);
  }
  if (has_test)
    return {std::move(train), std::move(test)};
  if (train.samples < 2)
    all.refuse("holds one sample: none is left to test with");
  return hold_out(train, given.real("holdout"), seed);
}

data_files find_npz_file(const arguments& given) { return {{"arrays", given.text("file")}}; }

} // namespace

data_entry npz_data() {
  auto task = task_parameter();
  task.meaning = "what the labels are; auto: classes when y holds whole numbers from 0";
  return {.about = {.name = "npz",
                    .summary = "samples and targets in arrays of NumPy",
                    .maths = "arrays X (samples, ...) and y (samples) of the file, and X_test and y_test if there are "
                             "any\n"
                             "classes: 0 to the largest label; features are taken as they are, pictures as (samples, "
                             "rows, columns) or (samples, channels, rows, columns)",
                    .reference = "numpy.savez",
                    .cost = "memory, or disk when mapped: 4 bytes a feature, twice that while samples are held out",
                    .parameters = {{.key = "file",
                                    .kind = parameter::type::path,
                                    .fallback = "",
                                    .meaning = "of the arrays",
                                    .required = true},
                                   holdout_parameter(),
                                   task,
                                   file_limit_parameter(),
                                   mapped_parameter(),
                                   block_parameter()}},
          .load = load_npz,
          .find = find_npz_file};
}

} // namespace gossamer::compute::detail
