#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/hold_out.hpp"
#include "gossamer/compute/data/detail/labelled.hpp"
#include "gossamer/compute/data/detail/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>

namespace gossamer::compute::detail {

namespace {

/// The cells of a line.
class cells {
public:
  void clear() {
    views_.clear();
    rewritten_.clear();
  }
  /// @param cell must outlive this object, as a line of the file does
  void add(std::string_view cell) { views_.push_back(cell); }
  /// Adds a cell in quotes that holds quotes, each of which is written twice.
  void add_quoted(std::string_view cell) {
    if (cell.find('"') == std::string_view::npos)
      return add(cell);
    auto& text = rewritten_.emplace_back();
    for (std::size_t i = 0; i < cell.size(); i += cell[i] == '"' ? 2 : 1)
      text += cell[i];
    add(text);
  }

  std::size_t size() const { return views_.size(); }
  std::string_view operator[](std::size_t i) const { return views_[i]; }
  auto begin() const { return views_.begin(); }
  auto end() const { return views_.end(); }

private:
  std::vector<std::string_view> views_;
  std::deque<std::string> rewritten_; ///< the cells among `views_` that were rewritten
};

char separator_of(const arguments& given) {
  const auto& name = given.text("separator");
  return name == "comma" ? ',' : name == "semicolon" ? ';' : name == "tab" ? '\t' : ' ';
}

/// Takes a text between two quotes, with which `rest` begins, off its front. Two quotes within the text stand for one.
std::string_view take_quoted(const line_reader& at, std::string_view& rest) {
  auto end = rest.find('"', 1);
  while (end != std::string_view::npos && rest.substr(end + 1).starts_with('"'))
    end = rest.find('"', end + 2);
  if (end == std::string_view::npos)
    at.fail("a quoted cell does not end on its line", "a quote within a cell is written twice");
  const auto cell = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return cell;
}

/// Splits a line. If the separator is a blank, a run of blanks counts as one.
void split_cells(const line_reader& at, char separator, cells& result) {
  result.clear();
  for (auto rest = at.line();;) {
    if (separator != '\t')
      rest = trimmed(rest);
    const bool quoted = rest.starts_with('"');
    const auto inside = quoted ? take_quoted(at, rest) : std::string_view{};
    const auto end = rest.find(separator);
    const auto outside = trimmed(rest.substr(0, end));
    if (quoted && !outside.empty())
      at.fail(fmt::format("'{}' follows a closing quote", outside));
    quoted ? result.add_quoted(inside) : result.add(outside);
    if (end == std::string_view::npos)
      return;
    rest.remove_prefix(end + 1);
  }
}

bool is_header(const arguments& given, const cells& first) {
  return given.is("header", "yes") || (given.is("header", "auto") && std::ranges::none_of(first, [](auto cell) {
                                         return to_number(cell).has_value();
                                       }));
}

std::string joined(const cells& names) {
  std::string text;
  for (const auto name : names)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

/// Finds the column of the label: by name when the file names its columns, or counted from 1.
std::size_t label_column(const std::string& path, const std::string& wanted, const cells& first, bool header) {
  if (const auto named = std::ranges::find(first, wanted); header && named != first.end())
    return static_cast<std::size_t>(named - first.begin());
  if (wanted == "last")
    return first.size() - 1;
  if (wanted == "first")
    return 0;
  std::size_t number = 0;
  const auto end = wanted.data() + wanted.size();
  const auto [stop, problem] = std::from_chars(wanted.data(), end, number);
  if (problem == std::errc{} && stop == end && number >= 1 && number <= first.size())
    return number - 1;
  throw error(errc::usage, fmt::format("'{}' has no column '{}'", path, wanted),
              fmt::format("label is last, first, a number from 1 to {}{}", first.size(),
                          header ? ", or one of " + joined(first) : std::string{}));
}

struct table {
  labelled_rows rows;
  std::vector<std::string> columns; ///< their names in messages
  bool named = false;
};

std::vector<std::string> column_names(const cells& first, bool header) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first.size(); ++i)
    names.push_back(header ? fmt::format("column {} ({})", i + 1, first[i]) : fmt::format("column {}", i + 1));
  return names;
}

/// Explains why the first line is no row although a cell of it is a number.
std::string header_remedy(const line_reader& at, const table& to, std::string_view cell) {
  const bool suspect = to.rows.rows.samples == 0 && !to.named && !to_number(cell) && !cell.empty();
  return suspect ? fmt::format("if line {} names the columns, say header=yes", at.number()) : "";
}

void read_row(const line_reader& at, const cells& row, std::size_t label, table& to) {
  for (std::size_t i = 0; i < row.size(); ++i)
    if (i != label)
      to.rows.rows.dense.push_back(at.finite(to.columns[i], row[i], header_remedy(at, to, row[i])));
  to.rows.labels.emplace_back(row[label]);
  to.rows.lines.push_back(at.number());
  ++to.rows.rows.samples;
}

table read_table(const arguments& given, const std::string& path, std::uint64_t most_bytes) {
  const auto file = file_bytes::read(path, most_bytes);
  const char separator = separator_of(given);
  line_reader at(file);
  if (!at.next())
    throw error(errc::bad_data, fmt::format("'{}' is empty", path));
  table result;
  result.rows.path = path;
  cells row;
  split_cells(at, separator, row);
  if (row.size() < 2)
    at.fail("one column only, but a label and a feature are needed", "separator is comma, semicolon, tab or space");
  const auto columns = row.size();
  const bool header = is_header(given, row);
  const auto label = label_column(path, given.text("label"), row, header);
  result.rows.rows.features = columns - 1;
  result.columns = column_names(row, header);
  result.named = header;
  if (!header)
    read_row(at, row, label, result);
  while (at.next()) {
    split_cells(at, separator, row);
    if (row.size() != columns)
      at.fail(fmt::format("{} columns, but the first line has {}", row.size(), columns));
    read_row(at, row, label, result);
  }
  return result;
}

void check_alike(const table& train, const table& test) {
  const auto fail = [&](std::string_view what) {
    throw error(errc::bad_data, fmt::format("'{}' and '{}' differ in {}", train.rows.path, test.rows.path, what));
  };
  if (train.rows.rows.features != test.rows.rows.features)
    fail(fmt::format("their number of columns: {} and {}", train.rows.rows.features + 1, test.rows.rows.features + 1));
  if (train.named && test.named && train.columns != test.columns)
    fail("the names of their columns");
}

/// Shifts and scales the column that starts at `first` to mean 0 and deviation 1, by the training part; a column that
/// is constant there becomes 0 in both parts.
void standardise(large_vector<float>& train, large_vector<float>& test, std::size_t first, std::size_t stride) {
  const std::size_t whole_rows = train.size() / stride;
  const auto rows = static_cast<double>(whole_rows);
  const double origin = train[first]; // sums from here lose nothing to a large offset, as times have
  double mean = origin;
  for (auto i = first; i < train.size(); i += stride)
    mean += (train[i] - origin) / rows;
  double variance = 0;
  for (auto i = first; i < train.size(); i += stride)
    variance += (train[i] - mean) * (train[i] - mean) / rows;
  // A deviation below this is the rounding of a cell to 32 bits.
  const bool constant = std::sqrt(variance) <= 1e-7 * std::abs(mean);
  const double scale = constant ? 0 : 1 / std::sqrt(variance);
  for (auto* values : {&train, &test})
    for (auto i = first; i < values->size(); i += stride)
      (*values)[i] = static_cast<float>(((*values)[i] - mean) * scale);
}

data_split load_csv(const arguments& given, const data_files& files, std::uint64_t seed) {
  auto train = read_table(given, path_of(files, "train"), file_limit(given));
  std::optional<labelled_rows> test_rows;
  if (!given.text("test").empty()) {
    auto test = read_table(given, path_of(files, "test"), file_limit(given));
    check_alike(train, test);
    test_rows = std::move(test.rows);
  }
  auto split = with_targets(std::move(train.rows), std::move(test_rows), given, seed);
  if (given.is("scale", "standard")) {
    for (std::size_t column = 0; column < split.train.features; ++column)
      standardise(split.train.dense, split.test.dense, column, split.train.features);
    if (split.train.classes == 0)
      standardise(split.train.targets, split.test.targets, 0, 1);
  }
  return split;
}

} // namespace

data_entry csv_data() {
  return {.about = {.name = "csv",
                    .summary = "dense rows of numbers separated by commas, semicolons, tabs or blanks",
                    .maths = "line: cells in as many columns as the first line; cells may stand in double "
                             "quotes, and a quote within is written twice\n"
                             "header=auto: the first line names the columns when none of its cells is a number\n"
                             "scale=standard: z = (x - mean) / deviation for each feature, and for the target of "
                             "a\n"
                             "regression; mean and deviation of the training part; a constant column becomes 0\n"
                             "classes are the labels of the training file, ascending, or alphabetical when words",
                    .reference = "Shafranovich, \"Common format and MIME type for CSV files\", RFC 4180, 2005; "
                                 "without line breaks in cells",
                    .cost = "memory: 4 bytes a cell",
                    .parameters =
                        {
                            train_parameter(),
                            test_parameter(),
                            holdout_parameter(),
                            file_limit_parameter(),
                            task_parameter(),
                            {.key = "label",
                             .kind = parameter::type::text,
                             .fallback = "last",
                             .meaning = "column of the label: last, first, its name, or its number from 1"},
                            {.key = "header",
                             .kind = parameter::type::choice,
                             .fallback = "auto",
                             .meaning = "whether the first line names the columns",
                             .choices = {"auto", "yes", "no"}},
                            {.key = "separator",
                             .kind = parameter::type::choice,
                             .fallback = "comma",
                             .meaning = "what stands between cells",
                             .choices = {"comma", "semicolon", "tab", "space"}},
                            {.key = "scale",
                             .kind = parameter::type::choice,
                             .fallback = "standard",
                             .meaning = "what is done to the features",
                             .choices = {"standard", "none"}},
                        }},
          .load = load_csv,
          .find = find_rows};
}

} // namespace gossamer::compute::detail
