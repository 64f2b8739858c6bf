#include "gossamer/actors/telemetry/json.hpp"

#include <nlohmann/json.hpp>

namespace gossamer::actors {

namespace {

using json = nlohmann::ordered_json; // fields in the order in which they are documented

json fields(const evaluation_record& r) {
  return {
      {"step", r.step},
      {"epoch", r.epoch},
      {"time_s", r.time_s},
      {"train_loss", r.train_loss},
      {"test_loss", r.test_loss},
      {"test_accuracy", r.test_accuracy ? json(*r.test_accuracy) : json(nullptr)},
      {"consensus_distance", r.consensus_distance},
      {"payload_bits", r.payload_bits},
      {"wire_bits", r.wire_bits},
  };
}

} // namespace

std::string to_string(run_end end) {
  switch (end) {
  case run_end::planned:
    return "planned";
  case run_end::seconds:
    return "seconds";
  case run_end::interrupted:
    return "interrupted";
  }
  return "unknown";
}

std::string to_json(const evaluation_record& record) { return fields(record).dump(); }

std::string to_json(const run_summary& s) {
  auto object = fields(s.final);
  object["algorithm"] = s.algorithm;
  object["workers"] = s.workers;
  object["seed"] = s.seed;
  object["end"] = to_string(s.end);
  object["steps_per_worker"] = s.steps_per_worker;
  json histogram = json::object();
  for (const auto& [age, count] : s.staleness)
    histogram[std::to_string(age)] = count;
  object["staleness"] = std::move(histogram);
  object["version"] = GOSSAMER_VERSION;
  return object.dump(2);
}

} // namespace gossamer::actors
