#include "gossamer/compute/data/detail/labelled.hpp"

#include "gossamer/compute/data/detail/hold_out.hpp"
#include "gossamer/compute/data/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace gossamer::compute::detail {

namespace {

constexpr std::size_t most_guessed_classes = 100;
constexpr std::string_view task_remedy = "say task=regression or task=classification";

error bad_label(const labelled_rows& from, std::size_t i, std::string_view what, std::string remedy = {}) {
  return bad_line(from.path, from.lines[i], fmt::format("label '{}' {}", from.labels[i], what), std::move(remedy));
}

/// True if the labels are numbers; a column is all numbers or none.
bool all_numbers(const labelled_rows& from) {
  const bool first = to_number(from.labels.front()).has_value();
  for (std::size_t i = 0; i < from.labels.size(); ++i) {
    const auto value = to_number(from.labels[i]);
    if (value.has_value() != first)
      throw bad_label(from, i, first ? "is not a number, unlike those before" : "is a number, unlike those before");
    if (value && !std::isfinite(static_cast<float>(*value)))
      throw bad_label(from, i, "is not a finite 32-bit number");
    if (from.labels[i].empty())
      throw bad_label(from, i, "is empty");
  }
  return first;
}

bool is_whole(double number) { return number == std::floor(number); }

/// The classes in their order: by value, or alphabetically when they are no numbers. "1" and "+1.0"
/// are one class.
class class_table {
public:
  explicit class_table(const labelled_rows& from) : numbers_(all_numbers(from)) {
    for (const auto& label : from.labels)
      index_.emplace(key(label), 0);
    std::size_t next = 0;
    for (auto& [unused, index] : index_)
      index = next++;
    names_.resize(next);
    for (const auto& label : from.labels)
      if (auto& name = names_[index_.at(key(label))]; name.empty())
        name = label;
  }

  bool numbers() const { return numbers_; }
  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::size_t> find(const std::string& label) const {
    const auto wanted = key(label);
    if (std::isnan(wanted.first)) // compares as equal to every class
      return std::nullopt;
    const auto found = index_.find(wanted);
    return found == index_.end() ? std::nullopt : std::optional{found->second};
  }

private:
  std::pair<double, std::string> key(const std::string& label) const {
    return numbers_ ? std::pair{to_number(label).value_or(NAN), std::string{}} : std::pair{0.0, label};
  }

  bool numbers_;
  std::map<std::pair<double, std::string>, std::size_t> index_;
  std::vector<std::string> names_;
};

std::optional<std::size_t> first_fraction(const labelled_rows& from) {
  for (std::size_t i = 0; i < from.labels.size(); ++i)
    if (!is_whole(to_number(from.labels[i]).value_or(0)))
      return i;
  return std::nullopt;
}

bool is_classification(const arguments& given, const labelled_rows& train, const class_table& classes) {
  const auto fraction = first_fraction(train);
  const auto count = classes.names().size();
  if (given.is("task", "classification") && fraction)
    throw bad_label(train, *fraction, "is not a whole number, as classes are", std::string{task_remedy});
  if (given.is("task", "regression") && !classes.numbers())
    throw bad_label(train, 0, "is not a number, as regression needs", std::string{task_remedy});
  if (given.is("task", "auto") && !classes.numbers() && count > most_guessed_classes)
    throw error(errc::bad_data,
                fmt::format("'{}' has {} different labels, which are not numbers ('{}', '{}', ...)", train.path, count,
                            classes.names()[0], classes.names()[1]),
                std::string{task_remedy} + ", or name another column");
  return given.is("task", "classification") || (given.is("task", "auto") && !fraction && count <= most_guessed_classes);
}

void set_numbers(labelled_rows& to) {
  for (std::size_t i = 0; i < to.labels.size(); ++i)
    if (const auto value = to_number(to.labels[i]); value && std::isfinite(static_cast<float>(*value)))
      to.rows.targets.push_back(static_cast<float>(*value));
    else
      throw bad_label(to, i, "is not a finite 32-bit number");
}

void set_classes(labelled_rows& to, const class_table& classes) {
  to.rows.classes = classes.names().size();
  to.rows.class_names = classes.names();
  for (std::size_t i = 0; i < to.labels.size(); ++i)
    if (const auto found = classes.find(to.labels[i]))
      to.rows.targets.push_back(static_cast<float>(*found));
    else
      throw bad_label(to, i, "does not occur in the training file");
}

} // namespace

parameter train_parameter() {
  return {.key = "train",
          .kind = parameter::type::path,
          .fallback = "",
          .meaning = "file of training rows, plain or gzip",
          .required = true};
}

parameter test_parameter() {
  return {.key = "test", .kind = parameter::type::path, .fallback = "", .meaning = "file of test rows, if any"};
}

parameter task_parameter() {
  return {.key = "task",
          .kind = parameter::type::choice,
          .fallback = "auto",
          .meaning = "what the labels are; auto: classes when they are at most 100 whole numbers "
                     "or words",
          .choices = {"auto", "classification", "regression"}};
}

data_files find_rows(const arguments& given) {
  data_files files{{"train", given.text("train")}};
  if (!given.text("test").empty())
    files.emplace("test", given.text("test"));
  return files;
}

data_split with_targets(labelled_rows train, std::optional<labelled_rows> test, const arguments& given,
                        std::uint64_t seed) {
  for (const auto* part : {&train, test ? &*test : &train})
    if (part->labels.empty())
      throw error(errc::bad_data, fmt::format("'{}' holds no samples", part->path));
  const class_table classes(train);
  const bool classification = is_classification(given, train, classes);
  if (classification && classes.names().size() < 2)
    throw error(errc::bad_data, fmt::format("all labels in '{}' are '{}', but classification needs "
                                            "two classes",
                                            train.path, classes.names()[0]));
  const auto set = [&](labelled_rows& part) { classification ? set_classes(part, classes) : set_numbers(part); };
  set(train);
  if (!test) {
    if (train.rows.samples < 2)
      throw error(errc::bad_data, fmt::format("'{}' holds one sample: none is left to test with", train.path));
    return hold_out(train.rows, given.real("holdout"), seed);
  }
  set(*test);
  return {std::move(train.rows), std::move(test->rows)};
}

} // namespace gossamer::compute::detail
