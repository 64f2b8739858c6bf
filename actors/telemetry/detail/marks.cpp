#include "gossamer/actors/telemetry/detail/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer::actors::detail {

namespace {

constexpr std::size_t most_marks = 300;
constexpr double pointed_at = 7; // pixels around a line that show what it says
constexpr double legend_column = 150;

struct look {
  event_kind kind;
  std::string_view name, colour, dash;
};

constexpr std::array looks{
    look{event_kind::fault, "faults", "#b42318", "2 3"}, look{event_kind::loss, "losses", "#b42318", "none"},
    look{event_kind::arrival, "arrivals", "#0f7a4d", "7 3"}, look{event_kind::leader, "leader", "#7a3fb0", "9 3 2 3"}};

/// Where a moment lies on the axis: between the evaluations around it, or at the nearest.
double place_of(double time_s, std::span<const evaluation_record> evaluations,
                const std::function<double(const evaluation_record&)>& x) {
  const auto after = std::ranges::find_if(evaluations, [=](const auto& r) { return r.time_s >= time_s; });
  if (after == evaluations.begin() || after == evaluations.end())
    return x(after == evaluations.end() ? evaluations.back() : *after);
  const auto& before = *std::prev(after);
  const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
  return x(before) + share * (x(*after) - x(before));
}

} // namespace

std::vector<mark> marks_of(std::span<const event_record> events, std::span<const evaluation_record> evaluations,
                           const std::function<double(const evaluation_record&)>& x) {
  std::vector<mark> marks;
  for (const auto& e : events)
    if (e.kind != event_kind::note && !evaluations.empty() && marks.size() < most_marks)
      marks.push_back({place_of(e.time_s, evaluations, x), e.kind, fmt::format("{:.4g} s: {}", e.time_s, e.what)});
  return marks;
}

std::string draw_marks(std::span<const mark> marks, const axis& x) {
  std::string svg;
  for (const auto& m : marks) {
    const auto* how = std::ranges::find(looks, m.kind, &look::kind);
    if (how == looks.end() || !x.shows(m.x))
      continue;
    const auto line = fmt::format("<path d='M{:.1f},{} V{}' stroke", x.pixel(m.x), top, bottom);
    svg += fmt::format("<g><title>{0}</title>{1}='{2}' stroke-dasharray='{3}' stroke-opacity='0.7'/>"
                       "{1}='white' stroke-opacity='0' stroke-width='{4}'/></g>\n",
                       escaped(m.what), line, how->colour, how->dash, pointed_at);
  }
  return svg;
}

std::string legend_of_marks(std::span<const mark> marks, double y) {
  std::string svg;
  double at = left;
  for (const auto& l : looks)
    if (std::ranges::count(marks, l.kind, &mark::kind) > 0) {
      svg += legend_entry(at, y, l.colour, l.dash, l.name);
      at += legend_column;
    }
  return svg;
}

} // namespace gossamer::actors::detail
