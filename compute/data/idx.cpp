#include "gossamer/compute/data/detail/entries.hpp"
#include "gossamer/compute/data/detail/file_bytes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gossamer::compute::detail {

namespace {

constexpr std::string_view what_the_folder_holds =
    "the folder must hold {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte, "
    "plain or .gz";

/// Size of the header of a file with so many dimensions.
constexpr std::size_t header_bytes(std::uint8_t dimensions) { return 4 + 4 * std::size_t{dimensions}; }

/// Reads the sizes of the dimensions of an IDX file of bytes, once its header and its length agree. The magic number is
/// 0, 0, type (8: unsigned byte), number of dimensions; big-endian sizes follow.
std::vector<std::size_t> dimensions(const file_bytes& file, std::uint8_t count) {
  const auto header = header_bytes(count);
  if (file.size() < header)
    file.fail(file.size(), fmt::format("the file ends within its header of {} bytes", header));
  const std::uint8_t magic[] = {0, 0, 8, count};
  for (std::size_t i = 0; i < 4; ++i)
    if (file[i] != magic[i])
      file.fail(i, fmt::format("magic number {:#010x} instead of {:#010x}, an IDX file of "
                               "unsigned bytes with {} dimension{}",
                               file.big_endian(0), 0x800u + count, count, count == 1 ? "" : "s"));
  std::vector<std::size_t> sizes(count);
  auto left = file.size() - header; // divided, not multiplied: three 32-bit sizes overflow
  bool fits = true;
  for (std::size_t i = count; i-- > 0;) {
    sizes[i] = file.big_endian(4 + 4 * i);
    if (sizes[i] == 0)
      file.fail(4 + 4 * i, "a dimension of size 0");
    fits = fits && left % sizes[i] == 0;
    left /= sizes[i];
  }
  if (!fits || left != 1)
    file.fail(file.size(), fmt::format("the file ends here, with {} bytes of data where its header "
                                       "says {}",
                                       file.size() - header, fmt::join(sizes, " x ")));
  return sizes;
}

std::string images_of(std::string_view part) { return fmt::format("{}-images-idx3-ubyte", part); }
std::string labels_of(std::string_view part) { return fmt::format("{}-labels-idx1-ubyte", part); }

data_files find_idx_files(const arguments& given) {
  data_files files;
  for (const auto part : {"train", "t10k"})
    for (const auto& name : {images_of(part), labels_of(part)})
      files.emplace(name, file_bytes::find(given.text("dir"), name));
  return files;
}

dataset load_idx_part(const data_files& files, std::string_view part, std::size_t classes, std::uint64_t most_bytes) {
  const auto images = std::make_shared<const file_bytes>(
      file_bytes::read_found(path_of(files, images_of(part)), most_bytes, what_the_folder_holds));
  const auto labels = file_bytes::read_found(path_of(files, labels_of(part)), most_bytes, what_the_folder_holds);
  const auto shape = dimensions(*images, 3);
  const auto count = dimensions(labels, 1)[0];
  if (count != shape[0])
    labels.fail(4, fmt::format("{} labels for the {} images of '{}'", count, shape[0], images->path()));

  dataset data{.samples = count, .features = shape[1] * shape[2], .classes = classes, .shape = {1, shape[1], shape[2]}};
  data.bytes = features_in(images, header_bytes(3), count * data.features);
  data.bytes.scales = {{.divisor = 255}};
  data.targets.reserve(count);
  for (auto i = header_bytes(1); i < labels.size(); ++i) {
    if (labels[i] >= classes)
      labels.fail(i,
                  fmt::format("label {} of image {}; allowed: 0 to {}", labels[i], i - header_bytes(1), classes - 1));
    data.targets.push_back(labels[i]);
  }
  for (std::size_t c = 0; c < classes; ++c)
    data.class_names.push_back(fmt::format("{}", c));
  return data;
}

std::string rows_and_columns(const dataset& pictures) {
  return fmt::format("{} x {}", pictures.shape[1], pictures.shape[2]);
}

data_split load_idx(const arguments& given, const data_files& files, std::uint64_t) {
  const auto classes = static_cast<std::size_t>(given.integer("classes"));
  data_split split{load_idx_part(files, "train", classes, file_limit(given)),
                   load_idx_part(files, "t10k", classes, file_limit(given))};
  if (split.train.shape != split.test.shape)
    throw error(errc::bad_data,
                fmt::format("the training images in '{}' have {} pixels, the test images {}", given.text("dir"),
                            rows_and_columns(split.train), rows_and_columns(split.test)));
  return split;
}

} // namespace

data_entry idx_data() {
  return {.about = {.name = "idx",
                    .summary = "pictures in the files of MNIST, Fashion-MNIST and KMNIST",
                    .maths = "reads DIR/{train,t10k}-{images-idx3,labels-idx1}-ubyte, each plain or .gz\n"
                             "images: 00 00 08 03, count, rows, columns (big-endian, 4 bytes each), then a "
                             "byte a pixel\n"
                             "labels: 00 00 08 01, count, then a byte a label\n"
                             "feature = pixel / 255; features = rows * columns",
                    .reference = "LeCun, Cortes, Burges, \"The MNIST database of handwritten digits\", 1998",
                    .cost = "memory: a byte a pixel, and the packed file while it is read",
                    .parameters =
                        {
                            {.key = "dir",
                             .kind = parameter::type::path,
                             .fallback = "",
                             .meaning = "folder of the four files",
                             .required = true},
                            {.key = "classes",
                             .kind = parameter::type::integer,
                             .fallback = "10",
                             .meaning = "number of classes; labels are below it",
                             .min = 2,
                             .max = 256},
                            file_limit_parameter(),
                        }},
          .load = load_idx,
          .find = find_idx_files};
}

} // namespace gossamer::compute::detail
