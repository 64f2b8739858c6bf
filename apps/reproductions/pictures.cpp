#include "gossamer/actors/telemetry/chart.hpp"
#include "gossamer/apps/reproductions/detail/report.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::apps {

namespace {

using actors::bar_panel;
using actors::evaluation_record;
using actors::line_panel;

double coordinate(const evaluation_record& r, const std::string& what) {
  if (what == "seconds")
    return r.time_s;
  if (what == "bits")
    return static_cast<double>(r.payload_bits);
  if (what == "accuracy")
    return 100 * r.test_accuracy.value_or(NAN);
  return what == "epochs" ? r.epoch : r.train_loss;
}

std::string label(const std::string& what) {
  if (what == "bits")
    return "payload sent by all workers, bits";
  if (what == "accuracy")
    return "test accuracy, %";
  return what == "train-loss" ? "training loss" : what;
}

line_panel curves(const reproduction& r, const findings& f, const picture& p, const variant& setting) {
  line_panel panel{
      .title = setting.name, .x_label = label(p.x), .y_label = label(p.y), .log_x = p.log_x, .log_y = p.log_y};
  for (const auto& method : r.methods) {
    auto& line = panel.lines.emplace_back(line_panel::line{method.name, {}});
    for (const auto& record : f.at(method.name, setting.name).curve)
      line.points.emplace_back(coordinate(record, p.x), coordinate(record, p.y));
  }
  return panel;
}

line_panel points(const reproduction& r, const findings& f, const picture& p, const std::string& title) {
  line_panel panel{.title = title, .x_label = p.x, .y_label = p.y, .log_x = p.log_x, .log_y = p.log_y, .markers = true};
  for (const auto& method : r.methods) {
    auto& line = panel.lines.emplace_back(line_panel::line{method.name, {}});
    for (const auto& setting : r.settings)
      if (setting.x && setting.panel == title)
        line.points.emplace_back(*setting.x, f.estimate_of(p.y, method.name, setting.name).mean);
  }
  return panel;
}

bar_panel bars(const reproduction& r, const findings& f, const picture& p, const variant& setting) {
  bar_panel panel{.title = setting.name, .y_label = p.y, .parts = p.stacked, .bars = {}};
  for (const auto& method : r.methods) {
    auto& bar = panel.bars.emplace_back(bar_panel::bar{method.name, {}});
    for (const auto& part : p.stacked)
      bar.parts.push_back(f.estimate_of(part, method.name, setting.name).mean);
  }
  return panel;
}

std::vector<std::string> panel_names(const reproduction& r) {
  std::vector<std::string> names;
  for (const auto& setting : r.settings)
    if (setting.x && std::ranges::find(names, setting.panel) == names.end())
      names.push_back(setting.panel);
  return names;
}

std::string draw(const reproduction& r, const findings& f, const picture& p) {
  if (p.kind == picture_kind::bars) {
    std::vector<bar_panel> panels;
    for (const auto& setting : r.settings)
      panels.push_back(bars(r, f, p, setting));
    return actors::draw(r.name, panels);
  }
  std::vector<line_panel> panels;
  if (p.kind == picture_kind::curves)
    for (const auto& setting : r.settings)
      panels.push_back(curves(r, f, p, setting));
  else
    for (const auto& name : panel_names(r))
      panels.push_back(points(r, f, p, name));
  return actors::draw(r.name, panels);
}

} // namespace

std::vector<std::string> svgs(const reproduction& r, const findings& f) {
  std::vector<std::string> all;
  for (const auto& p : r.pictures)
    all.push_back(draw(r, f, p));
  return all;
}

} // namespace gossamer::apps
