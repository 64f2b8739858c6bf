#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::compute::detail {

namespace {

constexpr std::size_t symbols = 256;

/// Cuts the text into as many samples as fit, one after the other.
dataset cut(std::string_view bytes, std::size_t context) {
  dataset data{.samples = (bytes.size() - 1) / context, .features = context, .classes = symbols};
  data.shape = {context};
  data.is_text = true;
  for (std::size_t c = 0; c < symbols; ++c)
    data.class_names.push_back(fmt::format("byte {}", c));
  const auto number = [](char c) { return static_cast<float>(static_cast<std::uint8_t>(c)); };
  data.dense.reserve(data.samples * context);
  for (std::size_t i = 0; i < data.samples; ++i) {
    for (const char c : bytes.substr(i * context, context))
      data.dense.push_back(number(c));
    data.targets.push_back(number(bytes[(i + 1) * context]));
  }
  return data;
}

data_split load_text(const arguments& given, const data_files& files, std::uint64_t) {
  const auto file = file_bytes::read(path_of(files, "text"), file_limit(given));
  const auto context = static_cast<std::size_t>(given.integer("context"));
  const auto held = static_cast<std::size_t>(given.real("holdout") * static_cast<double>(file.size()));
  const auto kept = file.size() - held;
  if (kept <= context || held <= context)
    file.fail(file.size(),
              fmt::format("the text ends here; of {} bytes {} are for tests, and a sample has {} and the next",
                          file.size(), held, context));
  return {cut(file.text().substr(0, kept), context), cut(file.text().substr(kept), context)};
}

data_files find_text(const arguments& given) { return {{"text", given.text("file")}}; }

} // namespace

data_entry text_data() {
  return {.about = {.name = "text",
                    .summary = "the bytes of a file, for language models",
                    .maths =
                        "sample i: bytes i context to (i + 1) context - 1, each of which is followed by the next, and "
                        "the last by the target\n"
                        "the test samples are those of the end of the file",
                    .reference = "Shannon, \"Prediction and entropy of printed English\", 1951",
                    .cost = "memory: 4 bytes a byte",
                    .parameters = {{.key = "file",
                                    .kind = parameter::type::path,
                                    .fallback = "",
                                    .meaning = "of text, plain or gzip",
                                    .required = true},
                                   {.key = "context",
                                    .kind = parameter::type::integer,
                                    .fallback = "64",
                                    .meaning = "bytes of a sample",
                                    .min = 1,
                                    .max = 65536},
                                   {.key = "holdout",
                                    .kind = parameter::type::real,
                                    .fallback = "0.1",
                                    .meaning = "share of the file to test with",
                                    .min = 0.001,
                                    .max = 0.999},
                                   file_limit_parameter()}},
          .load = load_text,
          .find = find_text};
}

} // namespace gossamer::compute::detail
