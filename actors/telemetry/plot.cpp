#include "gossamer/actors/telemetry/plot.hpp"

#include "gossamer/actors/telemetry/detail/axes.hpp"
#include "gossamer/actors/telemetry/detail/marks.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

namespace {

template <class Value>
std::vector<detail::point> over_epochs(std::span<const evaluation_record> records, Value value) {
  std::vector<detail::point> points;
  for (const auto& r : records)
    points.push_back({r.epoch, value(r)});
  return points;
}

constexpr auto loss_colour = "#b45309", test_colour = "#d97706", accuracy_colour = "#1d4ed8";

} // namespace

std::string plot(std::span<const evaluation_record> records, std::span<const event_record> events,
                 std::string_view title) {
  double last_epoch = 0, smallest_accuracy = 1;
  detail::range losses;
  bool accuracy = false;
  for (const auto& r : records) {
    last_epoch = std::max(last_epoch, r.epoch);
    for (const double loss : {r.train_loss, r.test_loss})
      losses.add(loss);
    if (r.test_accuracy) {
      accuracy = true;
      smallest_accuracy = std::min(smallest_accuracy, *r.test_accuracy);
    }
  }
  using namespace detail;
  const auto x = axis::linear(0, last_epoch, left, right, true);
  const auto loss = losses.empty() ? axis::linear(0, 0, bottom, top) : axis::of_losses(losses.smallest, losses.largest);

  const auto moments = marks_of(events, records, [](const evaluation_record& r) { return r.epoch; });
  constexpr double legend_at = bottom + 56;
  auto svg = open_picture(moments.empty() ? height : legend_at + legend_spacing, title);
  svg += draw_marks(moments, x) + legend_of_marks(moments, legend_at);
  svg += vertical_ticks(loss, left - 8, "end", loss_colour, true);
  svg += horizontal_ticks(x, "epochs (passes over the training data)");
  svg += text(left - 8, top - 12, "start", loss_colour, "training loss (line), test loss (dashes)");
  svg += curve(over_epochs(records, [](const auto& r) { return r.train_loss; }), x, loss, loss_colour, "none");
  svg += curve(over_epochs(records, [](const auto& r) { return r.test_loss; }), x, loss, test_colour, "6 4");
  if (accuracy) {
    const auto share = axis::linear(smallest_accuracy, 1, bottom, top);
    svg += vertical_ticks(share, right + 8, "start", accuracy_colour, false);
    svg += text(right + 8, top - 12, "end", accuracy_colour, "test accuracy (share)");
    svg += curve(over_epochs(records, [](const auto& r) { return r.test_accuracy.value_or(NAN); }), x, share,
                 accuracy_colour, "none");
  }
  return svg + "</svg>\n";
}

} // namespace gossamer::actors
