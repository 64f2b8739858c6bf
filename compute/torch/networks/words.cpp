#include "gossamer/compute/torch/networks/detail/words.hpp"

#include <sstream>
#include <torch/torch.h>
#include <torch/version.h>

namespace gossamer::compute::libtorch {

namespace {

constexpr std::size_t most_bytes = 300;
constexpr int most_lines = 3;

std::string bounded(std::string text) {
  if (text.size() > most_bytes)
    text.replace(most_bytes, std::string::npos, "...");
  return text;
}

} // namespace

std::string libtorch_version() {
  return "LibTorch " + std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
}

std::string text_of(const std::exception& e) {
  const auto* error = dynamic_cast<const c10::Error*>(&e);
  return error == nullptr ? e.what() : error->what_without_backtrace();
}

std::string first_lines(const std::string& text) {
  std::istringstream lines{text.substr(0, text.find("The original call is:"))};
  std::string result;
  int count = 0;
  for (std::string line; count < most_lines && std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos)
      continue;
    if (count++ > 0)
      result += ' ';
    result.append(line, begin, line.find_last_not_of(" \t\r") + 1 - begin);
  }
  return bounded(result);
}

std::string gist(std::string text) {
  constexpr std::string_view before = "RuntimeError: "; // TorchScript's
  if (const auto at = text.rfind(before); at != std::string::npos)
    text.erase(0, at + before.size());
  return bounded(text.substr(0, text.find('\n')));
}

} // namespace gossamer::compute::libtorch
