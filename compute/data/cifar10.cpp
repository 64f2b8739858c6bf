#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"
#include "gossamer/compute/data/detail/larger_than_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>

namespace gossamer::compute::detail {

namespace {

constexpr std::size_t channels = 3;
constexpr std::size_t plane = 32 * 32;
constexpr std::size_t record = 1 + channels * plane;
constexpr std::size_t classes = 10;

dataset empty_set() {
  return {.features = channels * plane,
          .classes = classes,
          .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
          .shape = {channels, 32, 32}};
}

void append(dataset& data, large_vector<std::uint8_t>& pixels, const file_bytes& file) {
  if (file.size() == 0 || file.size() % record != 0)
    file.fail(file.size(), fmt::format("the file ends here, but its records are {} bytes each, "
                                       "so that it is not whole",
                                       record));
  for (std::size_t at = 0; at < file.size(); at += record, ++data.samples) {
    if (file[at] >= classes)
      file.fail(at, fmt::format("label {}; allowed: 0 to {}", file[at], classes - 1));
    data.targets.push_back(file[at]);
    const auto picture = file.text().substr(at + 1, record - 1);
    pixels.insert(pixels.end(), picture.begin(), picture.end());
  }
}

constexpr std::string_view train_prefix = "data_batch_", test_prefix = "test_batch";

/// Returns all batches whose name begins with the prefix; the plain one of a batch that is there plain and packed.
data_files find_part(const std::string& folder, std::string_view prefix) {
  auto names = file_names(folder);
  for (auto& name : names)
    if (name.ends_with(".bin.gz"))
      name.resize(name.size() - 3);
  std::erase_if(names, [&](const auto& name) { return !name.starts_with(prefix) || !name.ends_with(".bin"); });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  constexpr std::string_view remedy = "the folder must hold data_batch_*.bin and test_batch*.bin, plain or .gz";
  if (names.empty())
    throw error(errc::io, fmt::format("'{}' holds no {}*.bin", folder, prefix), std::string{remedy});
  data_files files;
  for (const auto& name : names)
    files.emplace(name, file_bytes::find(folder, name));
  return files;
}

data_files find_cifar10_files(const arguments& given) {
  auto files = find_part(given.text("dir"), train_prefix);
  files.merge(find_part(given.text("dir"), test_prefix));
  return files;
}

/// Returns the number of records in the files together, as far as it is known before they are read: packed files count
/// as empty.
std::size_t expected_records(const data_files& files, std::string_view prefix, std::uint64_t most_bytes) {
  std::uint64_t bytes = 0;
  for (const auto& [name, path] : files) {
    std::error_code of_looking; // a later read says why
    const auto size = name.starts_with(prefix) ? std::filesystem::file_size(path, of_looking) : 0;
    if (!of_looking && size <= most_bytes)
      bytes += size;
  }
  return bytes / record;
}

dataset load_cifar10_part(const arguments& given, const data_files& files, std::string_view prefix) {
  const auto most_bytes = file_limit(given);
  auto data = empty_set();
  large_vector<std::uint8_t> pixels(sample_memory(given));
  pixels.reserve(expected_records(files, prefix, most_bytes) * data.features);
  for (const auto& [name, path] : files)
    if (name.starts_with(prefix))
      append(data, pixels, file_bytes::read(path, most_bytes));
  if (data.samples == 0)
    path_of(files, prefix); // throws, because the files are not there
  data.bytes = features_in(std::move(pixels));
  return data;
}

constexpr float brightest = 255;

/// The means and deviations of the channels. The sums of a channel are taken in the order of its pixels, those of all
/// channels at the same time.
std::vector<byte_scale> measure(std::span<const std::uint8_t> pixels) {
  std::array<double, 256> value_of{};
  for (std::size_t byte = 0; byte < value_of.size(); ++byte)
    value_of[byte] = byte_scale{.divisor = brightest}(static_cast<std::uint8_t>(byte));
  std::array<double, channels> sum{}, squares{};
  for (std::size_t picture = 0; picture < pixels.size(); picture += channels * plane)
    for (auto at = picture; at < picture + plane; ++at)
      for (std::size_t c = 0; c < channels; ++c) {
        const auto value = value_of[pixels[at + c * plane]];
        sum[c] += value;
        squares[c] += value * value;
      }
  const auto of_a_channel = pixels.size() / channels;
  const auto count = static_cast<double>(of_a_channel);
  std::vector<byte_scale> result;
  for (std::size_t c = 0; c < channels; ++c) {
    const double mean = sum[c] / count;
    const double variance = std::max(0.0, squares[c] / count - mean * mean);
    result.push_back({.divisor = brightest,
                      .mean = static_cast<float>(mean),
                      .deviation = variance > 1e-12 ? static_cast<float>(std::sqrt(variance)) : 1.0f});
  }
  return result;
}

data_split load_cifar10(const arguments& given, const data_files& files, std::uint64_t) {
  data_split split{load_cifar10_part(given, files, train_prefix), load_cifar10_part(given, files, test_prefix)};
  split.train.bytes.scales = split.test.bytes.scales = measure(split.train.bytes.all);
  if (given.is("augment", "yes"))
    split.train.augmentation = {.padding = 4, .mirror = true};
  split.train.shuffled_block = shuffled_block(given);
  return split;
}

} // namespace

data_entry cifar10_data() {
  return {.about = {.name = "cifar10",
                    .summary = "the small colour pictures of CIFAR-10, binary version",
                    .maths = "reads all DIR/data_batch_*.bin and DIR/test_batch*.bin, each plain or .gz, by "
                             "name\n"
                             "record: 1 byte label, then 1024 bytes red, green and blue each, row by row\n"
                             "feature = (byte / 255 - mean) / deviation, both per channel over the training part",
                    .reference = "Krizhevsky, \"Learning multiple layers of features from tiny images\", 2009",
                    .cost = "memory, or disk when mapped: 3 KiB a picture; memory besides: the largest file",
                    .parameters = {{.key = "dir",
                                    .kind = parameter::type::path,
                                    .fallback = "",
                                    .meaning = "folder of the batches",
                                    .required = true},
                                   {.key = "augment",
                                    .kind = parameter::type::choice,
                                    .fallback = "no",
                                    .meaning = "whether gradients see pictures shifted by up to 4 pixels each way, and "
                                               "mirrored half the time; for models of LibTorch",
                                    .choices = {"yes", "no"}},
                                   file_limit_parameter(),
                                   mapped_parameter(),
                                   block_parameter()}},
          .load = load_cifar10,
          .find = find_cifar10_files};
}

} // namespace gossamer::compute::detail
