#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/hold_out.hpp"
#include "gossamer/compute/data/detail/labelled.hpp"
#include "gossamer/compute/data/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace gossamer::compute::detail {

namespace {

/// Takes the text up to the next blank off the front of a trimmed line.
std::string_view take_word(std::string_view& line) {
  const auto end = line.find_first_of(" \t");
  const auto word = line.substr(0, end);
  line = end == std::string_view::npos ? std::string_view{} : trimmed(line.substr(end));
  return word;
}

/// @returns the index, which is greater than `previous` and at most `largest`
std::uint32_t index_of(const line_reader& at, std::string_view word, std::uint32_t previous, std::uint32_t largest) {
  std::uint32_t index = 0;
  const auto end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, index);
  if (stop != end || problem == std::errc::invalid_argument)
    at.fail(fmt::format("'{}' is not an index", word));
  if (problem != std::errc{} || index > largest)
    at.fail(fmt::format("index {} is greater than {}", word, largest));
  if (index == 0)
    at.fail("index 0, but the first feature is 1");
  if (index <= previous)
    at.fail(fmt::format("index {} follows index {}, but indices ascend", index, previous));
  return index;
}

void read_row(const line_reader& at, std::string_view line, std::uint32_t largest, dataset& rows) {
  std::uint32_t previous = 0;
  while (!line.empty()) {
    const auto word = take_word(line);
    const auto colon = word.find(':');
    if (colon == std::string_view::npos)
      at.fail(fmt::format("'{}' is not of the form index:value", word));
    previous = index_of(at, word.substr(0, colon), previous, largest);
    rows.columns.push_back(previous - 1);
    rows.values.push_back(at.finite("the value", word.substr(colon + 1)));
  }
  rows.features = std::max<std::size_t>(rows.features, previous);
  rows.row_start.push_back(rows.columns.size());
  ++rows.samples;
}

labelled_rows read_rows(const std::string& path, std::uint32_t largest, std::uint64_t most_bytes) {
  const auto file = file_bytes::read(path, most_bytes);
  labelled_rows result{.path = path, .rows = {.row_start = {0}}};
  for (line_reader at(file); at.next();) {
    auto line = trimmed(at.line().substr(0, at.line().find('#')));
    if (line.empty())
      continue;
    const auto label = take_word(line);
    static_cast<void>(at.finite("the label", label));
    result.labels.emplace_back(label);
    result.lines.push_back(at.number());
    read_row(at, line, largest, result.rows);
  }
  return result;
}

data_split load_libsvm(const arguments& given, const data_files& files, std::uint64_t seed) {
  const auto features = static_cast<std::uint32_t>(given.integer("features"));
  const auto largest = features == 0 ? UINT32_MAX : features;
  auto train = read_rows(path_of(files, "train"), largest, file_limit(given));
  std::optional<labelled_rows> test;
  if (!given.text("test").empty())
    test = read_rows(path_of(files, "test"), largest, file_limit(given));
  const auto path = train.path;
  auto split = with_targets(std::move(train), std::move(test), given, seed);
  const auto found = std::max(split.train.features, split.test.features);
  if (found == 0)
    throw error(errc::bad_data, fmt::format("'{}' holds labels, but no features", path));
  split.train.features = split.test.features = features == 0 ? found : features;
  return split;
}

} // namespace

data_entry libsvm_data() {
  return {.about = {.name = "libsvm",
                    .summary = "sparse rows in the text format of LIBSVM and SVMlight",
                    .maths = "line: label index:value index:value ... # comment\n"
                             "indices count from 1 and ascend; what is left out is 0; blank lines are skipped\n"
                             "classes are the labels of the training file in ascending order",
                    .reference = "Chang, Lin, \"LIBSVM: a library for support vector machines\", 2011",
                    .cost = "memory: 8 bytes a stored value",
                    .parameters =
                        {
                            train_parameter(),
                            test_parameter(),
                            holdout_parameter(),
                            file_limit_parameter(),
                            task_parameter(),
                            {.key = "features",
                             .kind = parameter::type::integer,
                             .fallback = "0",
                             .meaning = "number of features; 0: the largest index of both files",
                             .min = 0,
                             .max = 4294967295.0},
                        }},
          .load = load_libsvm,
          .find = find_rows};
}

} // namespace gossamer::compute::detail
