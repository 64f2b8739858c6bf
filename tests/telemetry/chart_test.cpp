#include "gossamer/actors/telemetry/chart.hpp"

#include <gmock/gmock.h>

#include <set>

namespace gossamer::actors {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A chart with a line for each label, whose values go from 84 to 97.
std::string chart_of(const std::vector<std::string>& labels, bool from_zero = true) {
  line_panel panel{.title = {}, .x_label = "seconds", .y_label = "accuracy", .from_zero = from_zero};
  for (const auto& label : labels)
    panel.lines.push_back({label, {{1, 84}, {2, 97}}});
  return draw("a chart", std::span<const line_panel>{&panel, 1});
}

/// Returns the left ends of the labels of its legend.
std::set<std::string> columns_of(const std::string& svg, const std::vector<std::string>& labels) {
  std::set<std::string> columns;
  for (const auto& label : labels) {
    const auto element = svg.rfind("<text x='", svg.find('>' + label + '<')) + 9;
    columns.insert(svg.substr(element, svg.find('\'', element) - element));
  }
  return columns;
}

TEST(chart, has_two_columns_of_labels_that_are_short) {
  const std::vector<std::string> labels{"d-psgd", "sgp", "ad-psgd"};
  EXPECT_EQ(columns_of(chart_of(labels), labels).size(), 2u);
}

TEST(chart, writes_no_label_over_another) {
  const std::vector<std::string> labels{"sparse-loco:period=10,collective=direct with chunked-top-k", "sgp", "d-psgd"};
  EXPECT_EQ(columns_of(chart_of(labels), labels).size(), 1u);
}

TEST(chart, begins_at_zero_unless_it_is_told_otherwise) {
  EXPECT_THAT(chart_of({"d-psgd"}), HasSubstr(">0</text>"));
  EXPECT_THAT(chart_of({"d-psgd"}, false), AllOf(HasSubstr(">80</text>"), Not(HasSubstr(">0</text>"))));
}

} // namespace
} // namespace gossamer::actors
