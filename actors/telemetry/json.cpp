#include "gossamer/actors/telemetry/json.hpp"

#include "gossamer/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

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

const json& field(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    throw error(errc::bad_data, fmt::format("there is no {}", key));
  return *found;
}

double real(const json& object, const char* key) {
  const auto& value = field(object, key);
  if (!value.is_number() && !value.is_null())
    throw error(errc::bad_data, fmt::format("{} is no number", key));
  return value.is_null() ? NAN : value.get<double>();
}

std::uint64_t count(const json& object, const char* key) {
  const auto& value = field(object, key);
  if (!value.is_number_unsigned())
    throw error(errc::bad_data, fmt::format("{} is no whole number from 0 on", key));
  return value.get<std::uint64_t>();
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

evaluation_record evaluation_from_json(std::string_view line) {
  const auto object = json::parse(line, nullptr, false);
  if (!object.is_object())
    throw error(errc::bad_data, "this is no JSON object");
  evaluation_record r;
  r.step = count(object, "step");
  r.epoch = real(object, "epoch");
  r.time_s = real(object, "time_s");
  r.train_loss = real(object, "train_loss");
  r.test_loss = real(object, "test_loss");
  if (!field(object, "test_accuracy").is_null())
    r.test_accuracy = real(object, "test_accuracy");
  r.consensus_distance = real(object, "consensus_distance");
  r.payload_bits = count(object, "payload_bits");
  r.wire_bits = count(object, "wire_bits");
  return r;
}

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
  object["stale_frames"] = s.stale_frames;
  object["lost"] = s.lost;
  object["returned"] = s.returned;
  object["unreported"] = s.unreported;
  object["views"] = s.views;
  object["unfinished"] = s.unfinished;
  object["version"] = GOSSAMER_VERSION;
  return object.dump(2);
}

} // namespace gossamer::actors
