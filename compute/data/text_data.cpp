#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::compute::detail {

namespace {

constexpr std::size_t symbols = 256;

/// Cuts `size` bytes of the text into as many samples as fit, one after the other.
dataset cut(const std::shared_ptr<const file_bytes>& file, std::size_t first, std::size_t size, std::size_t context) {
  dataset data{.samples = (size - 1) / context, .features = context, .classes = symbols};
  data.shape = {context};
  data.is_text = true;
  for (std::size_t c = 0; c < symbols; ++c)
    data.class_names.push_back(fmt::format("byte {}", c));
  data.bytes = features_in(file, first, data.samples * context);
  data.targets.reserve(data.samples);
  for (std::size_t i = 1; i <= data.samples; ++i)
    data.targets.push_back((*file)[first + i * context]);
  return data;
}

data_split load_text(const arguments& given, const data_files& files, std::uint64_t) {
  const auto file = std::make_shared<const file_bytes>(file_bytes::read(path_of(files, "text"), file_limit(given)));
  const auto context = static_cast<std::size_t>(given.integer("context"));
  const auto held = static_cast<std::size_t>(given.real("holdout") * static_cast<double>(file->size()));
  const auto kept = file->size() - held;
  if (kept <= context || held <= context)
    file->fail(file->size(),
               fmt::format("the text ends here; of {} bytes {} are for tests, and a sample has {} and the next",
                           file->size(), held, context));
  return {cut(file, 0, kept, context), cut(file, kept, held, context)};
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
                    .cost = "memory: a byte a byte",
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
