// Functions about GPUs that need no CUDA toolkit.
#include "gossamer/base/cuda/device.hpp"

#include "gossamer/base/error.hpp"
#include "gossamer/base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gossamer::cuda {
namespace {

constexpr std::string_view prefix = "cuda:";
constexpr auto allowed = "allowed: cpu, cuda:NUMBER and cuda:all, joined by +";

error refused(std::string sentence) { return {errc::usage, std::move(sentence), allowed}; }

std::vector<device> parse_one(const std::string& text) {
  if (text == "cpu")
    return {device{}};
  if (!text.starts_with(prefix))
    throw refused(fmt::format("unknown device '{}'", text));
  const auto number = text.substr(prefix.size());
  if (number != "all" && (number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != number.npos))
    throw refused(fmt::format("device '{}' has no number", text));

  const auto there = gpus();
  std::vector<device> result;
  for (const auto& gpu : there)
    if (number == "all" || gpu.number == std::stoi(number))
      result.emplace_back(gpu.number);
  if (result.empty())
    throw error(errc::usage, fmt::format("there is no device '{}'", text),
                fmt::format("this machine has cuda:0{}",
                            there.size() == 1 ? "" : fmt::format(" to cuda:{}", there.back().number)));
  return result;
}

} // namespace

std::string device::to_string() const { return on_gpu() ? fmt::format("cuda:{}", gpu_) : "cpu"; }

std::vector<device> parse_devices(std::string_view text) {
  std::vector<device> result;
  for (const auto& part : split(text, '+'))
    for (const auto d : parse_one(part)) {
      if (std::ranges::find(result, d) != result.end())
        throw refused(fmt::format("device '{}' is named twice in '{}'", d.to_string(), text));
      result.push_back(d);
    }
  return result;
}

std::string why_no_gpu() {
  try {
    gpus();
    return {};
  } catch (const error& e) {
    return e.sentence();
  }
}

} // namespace gossamer::cuda
