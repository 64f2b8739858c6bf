#include "gossamer/actors/telemetry/tensorboard.hpp"

#include "gossamer/actors/telemetry/crc32c.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gossamer::actors {

namespace {

void put_little_endian(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to += static_cast<char>(value >> 8 * i);
}

/// A message in the encoding of Protocol Buffers (protobuf.dev/programming-guides/encoding).
class message {
public:
  message& varint(unsigned field, std::uint64_t value) {
    key(field, 0);
    put_varint(value);
    return *this;
  }
  message& real(unsigned field, double value) {
    key(field, 1);
    put_little_endian(bytes_, std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  message& single(unsigned field, float value) {
    key(field, 5);
    put_little_endian(bytes_, std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  message& text(unsigned field, std::string_view value) {
    key(field, 2);
    put_varint(value.size());
    bytes_ += value;
    return *this;
  }
  message& inner(unsigned field, const message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const noexcept { return bytes_; }

private:
  void key(unsigned field, unsigned wire_type) { put_varint(field << 3 | wire_type); }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

// Numbers of the fields, from the .proto files of TensorFlow.
namespace event {
constexpr unsigned wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7;
}
namespace session_log {
constexpr unsigned status = 1;
constexpr std::uint64_t start = 1;
} // namespace session_log
namespace summary {
constexpr unsigned value = 1;
}
namespace value {
constexpr unsigned tag = 1, simple_value = 2, tensor = 8, metadata = 9;
}
namespace metadata {
constexpr unsigned plugin_data = 1, plugin_name = 1;
}
namespace tensor {
constexpr unsigned dtype = 1, shape = 2, string_val = 8;
constexpr std::uint64_t string_type = 7;
} // namespace tensor

/// The checksum of a record, which TensorFlow changes so that checksums of checksums are no trouble.
std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u; }

std::string record(const message& what) {
  std::string out;
  put_little_endian(out, what.bytes().size(), 8);
  put_little_endian(out, masked_crc(out), 4);
  out += what.bytes();
  put_little_endian(out, masked_crc(what.bytes()), 4);
  return out;
}

message event_at(double wall_s, std::uint64_t step) {
  return message{}.real(event::wall_time, wall_s).varint(event::step, step);
}

/// Returns Markdown that shows a text as it is.
std::string as_it_is(std::string_view text) {
  std::string out{"    "};
  for (const char c : text)
    out += c == '\n' ? std::string{"\n    "} : std::string{c};
  return out;
}

} // namespace

std::string tensorboard_beginning(double wall_s) {
  return record(message{}.real(event::wall_time, wall_s).text(event::file_version, "brain.Event:2"));
}

std::string tensorboard_start(double wall_s, std::uint64_t step) {
  return record(
      event_at(wall_s, step).inner(event::session_log, message{}.varint(session_log::status, session_log::start)));
}

std::string tensorboard_scalars(double wall_s, std::uint64_t step, std::span<const tensorboard_scalar> all) {
  message values;
  for (const auto& one : all)
    values.inner(summary::value,
                 message{}.text(value::tag, one.tag).single(value::simple_value, static_cast<float>(one.value)));
  return record(event_at(wall_s, step).inner(event::summary, values));
}

std::string tensorboard_text(double wall_s, std::uint64_t step, std::string_view tag, std::string_view text) {
  const auto plugin = message{}.inner(metadata::plugin_data, message{}.text(metadata::plugin_name, "text"));
  const auto content =
      message{}.varint(tensor::dtype, tensor::string_type).inner(tensor::shape, {}).text(tensor::string_val, text);
  const auto one = message{}.text(value::tag, tag).inner(value::tensor, content).inner(value::metadata, plugin);
  return record(event_at(wall_s, step).inner(event::summary, message{}.inner(summary::value, one)));
}

tensorboard_observer::tensorboard_observer(settings s, std::string_view about)
    : settings_(std::move(s)), step_(settings_.first_step) {
  const auto now = settings_.wall_s();
  settings_.write(tensorboard_beginning(now));
  settings_.write(tensorboard_start(now, step_));
  settings_.write(tensorboard_text(now, step_, "settings", as_it_is(about)));
}

void tensorboard_observer::on_progress(const progress_record& r) {
  const auto steps = std::round((r.epoch - settings_.epochs_ahead) * settings_.steps_per_epoch);
  if (std::isfinite(steps) && steps >= 0)
    step_ = std::max(step_, static_cast<std::uint64_t>(steps));
  const std::array all{tensorboard_scalar{"loss/minibatch", r.loss},
                       tensorboard_scalar{"pace/steps_per_second", r.steps_per_second},
                       tensorboard_scalar{"pace/bits_per_second", r.bits_per_second},
                       tensorboard_scalar{"run/epoch", r.epoch},
                       tensorboard_scalar{"run/time_s", r.time_s},
                       tensorboard_scalar{"run/nodes", static_cast<double>(r.nodes - r.nodes_lost)}};
  settings_.write(tensorboard_scalars(settings_.wall_s(), step_, all));
}

void tensorboard_observer::on_evaluation(const evaluation_record& r) {
  step_ = std::max(step_, r.step);
  std::vector<tensorboard_scalar> all{{"loss/train", r.train_loss},
                                      {"loss/test", r.test_loss},
                                      {"consensus_distance", r.consensus_distance},
                                      {"bits/payload", static_cast<double>(r.payload_bits)},
                                      {"bits/wire", static_cast<double>(r.wire_bits)}};
  if (r.payload_bits_between_islands)
    all.push_back({"bits/payload_between_islands", static_cast<double>(*r.payload_bits_between_islands)});
  if (r.test_accuracy)
    all.push_back({"accuracy/test", *r.test_accuracy});
  settings_.write(tensorboard_scalars(settings_.wall_s(), r.step, all));
}

void tensorboard_observer::on_event(const event_record& r) {
  settings_.write(tensorboard_text(settings_.wall_s(), step_, fmt::format("events/{}", to_string(r.kind)),
                                   as_it_is(fmt::format("{:.6g} s  {}", r.time_s, r.what))));
}

} // namespace gossamer::actors
