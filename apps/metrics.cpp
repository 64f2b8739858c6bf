#include "gossamer/apps/detail/metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace gossamer::apps {

namespace {

/// One metric family after the other.
class exposition {
public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  /// Adds a time series; the first one brings the family's head. @param labels `{a="b"}`, or none
  template <class Number>
  void add(std::string_view labels, Number value) {
    text_ += head_ + fmt::format("{}{} {}\n", name_, labels, value);
    head_.clear();
  }
  const std::string& text() const noexcept { return text_; }

private:
  std::string name_, head_, text_;
};

/// `{name="value"}`, with the escapes of the format.
std::string label(std::string_view name, std::string_view value) {
  std::string escaped;
  for (const char c : value)
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
  return fmt::format("{{{}=\"{}\"}}", name, escaped);
}

/// A gauge that is a field of the newest line of one type, or the length of such a list.
struct gauge {
  const char *type, *field, *name, *help;
};

constexpr gauge gauges[] = {
    {"evaluation", "train_loss", "gossamer_train_loss", "Loss of the mean model on training samples."},
    {"evaluation", "test_loss", "gossamer_test_loss", "Loss of the mean model on the test samples."},
    {"evaluation", "test_accuracy", "gossamer_test_accuracy_ratio", "Share of test samples that are classified well."},
    {"evaluation", "consensus_distance", "gossamer_consensus_distance",
     "Root mean square of the distances between the models of workers and their mean."},
    {"progress", "loss", "gossamer_minibatch_loss", "Loss of minibatches, smoothed."},
    {"progress", "epoch", "gossamer_epochs", "Passes over the training data so far."},
    {"progress", "planned_epochs", "gossamer_planned_epochs", "Passes over the training data that are planned."},
    {"progress", "time_s", "gossamer_run_time_seconds", "Time since the workers began, in a simulation virtual."},
    {"progress", "remaining_s", "gossamer_remaining_seconds", "Estimated time to the end of the run."},
    {"progress", "nodes", "gossamer_nodes", "Processes that share the run."},
    {"progress", "nodes_lost", "gossamer_nodes_lost", "Lost processes among them."},
    {"view", "number", "gossamer_view_number", "Number of the view: it grows when members change."},
    {"view", "leader", "gossamer_leader_node", "Number of the node that leads."},
    {"view", "members", "gossamer_members", "Workers that take part."},
    {"view", "masters", "gossamer_masters", "Masters that live."},
};

/// A counter for each worker and master: a field of the line "workers".
struct counter {
  const char *field, *name, *help;
  double unit; ///< of the field, in that of the metric
};

constexpr double byte_of_bit = 1. / 8;
constexpr counter counters[] = {
    {"steps", "gossamer_gradients_total", "Gradients that a worker has computed.", 1},
    {"payload_bits", "gossamer_payload_bytes_total",
     "Information that a worker or master has sent, as papers count it.", byte_of_bit},
    {"payload_bits_between_islands", "gossamer_payload_bytes_between_islands_total",
     "Of that information, what went from one island to another.", byte_of_bit},
    {"wire_bits", "gossamer_wire_bytes_total", "What a worker or master has sent, with headers and padding.",
     byte_of_bit},
};

void add_counters(exposition& to, const nlohmann::json& workers) {
  for (const auto& one : counters) {
    const auto counts = workers.value(one.field, std::vector<double>{});
    to.begin(one.name, "counter", one.help);
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (sum += one.unit * counts[i]; counts.size() <= most_workers_apart)
        to.add(label("worker", std::to_string(i)), one.unit * counts[i]);
    if (counts.size() > most_workers_apart)
      to.add("", sum);
  }
}

void add_gauges(exposition& to, const std::map<std::string, nlohmann::json>& newest) {
  for (const auto& one : gauges) {
    const auto line = newest.find(one.type);
    if (line == newest.end())
      continue;
    const auto value = line->second.value(one.field, nlohmann::json(nullptr));
    to.begin(one.name, "gauge", one.help);
    if (value.is_number())
      to.add("", value.get<double>());
    else if (value.is_array())
      to.add("", value.size());
  }
}

} // namespace

std::string metrics_text(const line_history& lines) {
  constexpr std::string_view event = "event-";
  const auto types = lines.types();
  std::map<std::string, nlohmann::json> newest;
  for (const auto& [type, those] : types)
    if (auto object = nlohmann::json::parse(those.newest, nullptr, false); object.is_object())
      newest.emplace(type, std::move(object));
  exposition all;
  all.begin("gossamer_run_info", "gauge", "What the run is; always 1.");
  if (const auto run = newest.find("run"); run != newest.end())
    all.add(label("title", run->second.value("title", std::string{})), 1);
  all.begin("gossamer_ended", "gauge", "1 when the run has ended.");
  all.add("", types.contains("end") ? 1 : 0);
  add_gauges(all, newest);
  if (const auto workers = newest.find("workers"); workers != newest.end())
    add_counters(all, workers->second);
  all.begin("gossamer_evaluations_total", "counter", "Evaluations of the mean model.");
  const auto evaluations = types.find("evaluation");
  all.add("", evaluations != types.end() ? evaluations->second.count : 0);
  all.begin("gossamer_events_total", "counter", "What happened to the run, by its kind: faults, losses, arrivals.");
  for (const auto& [type, those] : types)
    if (type.starts_with(event))
      all.add(label("kind", type.substr(event.size())), those.count);
  return all.text();
}

} // namespace gossamer::apps
