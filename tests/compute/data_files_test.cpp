// Binary formats: IDX, CIFAR-10, and gzip around them.
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "data_support.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns, const std::string& pixels) {
  return big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns) + pixels;
}

std::string labels(const std::string& values) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(values.size())) + values;
}

/// Two pictures of 1 x 2 pixels to train with and one to test with.
struct tiny_mnist {
  scratch_folder folder;
  std::string spec = "idx:dir=" + folder.path();
  tiny_mnist() {
    folder.write("train-images-idx3-ubyte", images(2, 1, 2, std::string("\x00\xff\x33\x66", 4)));
    folder.write("train-labels-idx1-ubyte", labels(std::string("\x03\x00", 2)));
    folder.write("t10k-images-idx3-ubyte.gz", gzipped(images(1, 1, 2, "\xff\xff")));
    folder.write("t10k-labels-idx1-ubyte.gz", gzipped(labels("\x09")));
  }
  std::string error_with(const std::string& name, const std::string& bytes, errc code = errc::bad_data) {
    folder.write(name, bytes);
    return load_error(code, spec);
  }
};

TEST(idx, reads_pictures_and_labels_plain_or_packed) {
  const tiny_mnist files;
  const auto split = load_data(files.spec, 1);
  expect_consistent(split);
  EXPECT_THAT(dense_values(split.train), ElementsAre(0, 1, 0.2f, 0.4f));
  EXPECT_THAT(split.train.targets, ElementsAre(3, 0));
  EXPECT_THAT(dense_values(split.test), ElementsAre(1, 1));
  EXPECT_THAT(split.test.targets, ElementsAre(9));
  EXPECT_EQ(split.train.classes, 10u);
  EXPECT_EQ(split.train.class_names[7], "7");
}

TEST(idx, says_which_byte_is_wrong) {
  const auto pixels = std::string("\x00\xff\x33\x66", 4);
  const auto broken = [](const std::string& bytes) {
    return tiny_mnist{}.error_with("train-images-idx3-ubyte", bytes);
  };
  EXPECT_THAT(broken(""), HasSubstr("byte 0: the file ends within its header of 16 bytes"));
  EXPECT_THAT(broken(images(2, 1, 2, pixels).substr(0, 15)), HasSubstr("train-images-idx3-ubyte', byte 15: "));
  auto other_magic = images(2, 1, 2, pixels);
  other_magic[0] = 1;
  EXPECT_THAT(broken(other_magic), HasSubstr("byte 0: magic number 0x01000803"));
  EXPECT_THAT(broken(labels("\x03\x04\x03\x04\x03\x04\x03\x04\x03")), HasSubstr("byte 3: magic number 0x00000801"));
  EXPECT_THAT(broken(images(2, 0, 2, pixels)), HasSubstr("byte 8: a dimension of size 0"));
  EXPECT_THAT(broken(images(2, 1, 2, pixels.substr(1))),
              HasSubstr("with 3 bytes of data where its header says 2 x 1 x 2"));
  EXPECT_THAT(broken(images(2, 1, 2, pixels + "x")), HasSubstr("byte 21: the file ends here, with 5 bytes"));
}

TEST(idx, believes_no_header_that_claims_more_than_the_file_holds) {
  for (const std::uint32_t huge : {0xFFFFFFFFu, 0x80000000u, 0x10000u})
    EXPECT_THAT(tiny_mnist{}.error_with("train-images-idx3-ubyte", images(huge, huge, huge, "abcd")),
                HasSubstr("with 4 bytes of data"));
}

TEST(idx, checks_labels_against_pictures_and_classes) {
  EXPECT_THAT(tiny_mnist{}.error_with("train-labels-idx1-ubyte", labels("\x01\x02\x03")),
              HasSubstr("3 labels for the 2 images of "));
  EXPECT_THAT(tiny_mnist{}.error_with("train-labels-idx1-ubyte", labels("\x01\x0a")),
              AllOf(HasSubstr("byte 9: label 10 of image 1"), HasSubstr("allowed: 0 to 9")));
  tiny_mnist files;
  EXPECT_THAT(load_error(errc::bad_data, files.spec + ",classes=3"), HasSubstr("label 3"));
  EXPECT_THAT(files.error_with("t10k-images-idx3-ubyte", images(1, 1, 3, "abc")),
              HasSubstr("have 1 x 2 pixels, the test images 1 x 3"));
  EXPECT_THAT(files.error_with("t10k-images-idx3-ubyte", images(1, 2, 1, "ab")),
              HasSubstr("have 1 x 2 pixels, the test images 2 x 1"));
}

TEST(idx, names_missing_files_and_folders_in_their_place) {
  EXPECT_THAT(load_error(errc::usage, "idx"), HasSubstr("needs dir"));
  const scratch_folder folder;
  const auto spec = "idx:dir=" + folder.path();
  EXPECT_THAT(load_error(errc::io, spec),
              AllOf(HasSubstr("/train-images-idx3-ubyte' or "), HasSubstr("No such file"), HasSubstr("must hold")));
  tiny_mnist files;
  std::filesystem::remove(files.folder.path() + "/train-images-idx3-ubyte");
  std::filesystem::create_directory(files.folder.path() + "/train-images-idx3-ubyte");
  EXPECT_THAT(load_error(errc::io, files.spec), HasSubstr("Is a directory"));
}

TEST(gzip, reports_where_it_is_truncated_or_corrupt) {
  const auto packed = gzipped(images(1, 1, 2, "\xff\xff"));
  for (std::size_t size = 2; size < packed.size(); size += 5)
    ASSERT_THAT(
        tiny_mnist{}.error_with("t10k-images-idx3-ubyte.gz", packed.substr(0, size)),
        HasSubstr("t10k-images-idx3-ubyte.gz', byte 0: the gzip data that begin here are truncated or corrupt"));
  auto corrupt = packed;
  corrupt[corrupt.size() - 8] ^= 1; // damages the checksum
  EXPECT_THAT(tiny_mnist{}.error_with("t10k-images-idx3-ubyte.gz", corrupt), HasSubstr("truncated or corrupt"));
  EXPECT_THAT(tiny_mnist{}.error_with("t10k-images-idx3-ubyte.gz", packed + corrupt),
              HasSubstr("byte " + std::to_string(packed.size()) + ": the gzip data that begin here"));
}

TEST(gzip, says_where_something_else_follows) {
  const auto packed = gzipped(images(1, 1, 2, "\xff\xff"));
  for (const auto& tail : {std::string{"tail"}, std::string{"x"}, std::string{"\0\0x", 3}, '\0' + packed})
    EXPECT_THAT(tiny_mnist{}.error_with("t10k-images-idx3-ubyte.gz", packed + tail),
                HasSubstr("byte " + std::to_string(packed.size()) + ": what follows the gzip data is neither more of"));
  EXPECT_THAT(tiny_mnist{}.error_with("t10k-images-idx3-ubyte.gz", packed + packed.substr(0, 1)),
              HasSubstr("byte " + std::to_string(packed.size()) + ": the gzip data that begin here are truncated"));
}

TEST(gzip, a_flipped_bit_is_an_error_or_without_effect) {
  const auto packed = gzipped(images(1, 1, 2, "\xff\xff"));
  for (std::size_t bit = 0; bit < 8 * packed.size(); bit += 3) {
    auto flipped = packed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const tiny_mnist files;
    files.folder.write("t10k-images-idx3-ubyte.gz", flipped);
    try {
      EXPECT_THAT(dense_values(load_data(files.spec, 1).test), ElementsAre(1, 1)) << bit;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_data) << bit;
    }
  }
}

TEST(gzip, is_known_by_its_content_and_may_have_several_members) {
  const auto bytes = images(2, 1, 2, std::string("\x00\xff\x33\x66", 4));
  const tiny_mnist files;
  files.folder.write("train-images-idx3-ubyte", gzipped(bytes.substr(0, 7)) + gzipped(bytes.substr(7)));
  EXPECT_THAT(dense_values(load_data(files.spec, 1).train), ElementsAre(0, 1, 0.2f, 0.4f));
}

TEST(gzip, finds_room_for_members_before_the_last) {
  const std::string pixels(300'000, '\x33');
  const tiny_mnist files;
  files.folder.write("train-images-idx3-ubyte",
                     gzipped(images(150'000, 1, 2, pixels.substr(0, 299'999))) + gzipped("\xff") + gzipped(""));
  files.folder.write("train-labels-idx1-ubyte", gzipped(labels(std::string(150'000, '\1'))));
  const auto values = dense_values(load_data(files.spec, 1).train);
  ASSERT_EQ(values.size(), pixels.size());
  EXPECT_EQ(values[299'998], 0.2f);
  EXPECT_EQ(values.back(), 1);
}

TEST(gzip, may_end_with_zeros_as_copies_by_blocks_do) {
  const tiny_mnist files;
  const auto bytes = images(2, 1, 2, std::string("\x00\xff\x33\x66", 4));
  for (const auto& packed : {gzipped(bytes), gzipped(bytes.substr(0, 7)) + gzipped(bytes.substr(7))}) {
    files.folder.write("train-images-idx3-ubyte", packed + std::string(512, '\0'));
    EXPECT_THAT(dense_values(load_data(files.spec, 1).train), ElementsAre(0, 1, 0.2f, 0.4f));
  }
}

std::string with_limit(const std::string& spec, std::uint64_t bytes) {
  std::ostringstream text; // half a byte more, so that rounding takes none away
  text << std::setprecision(17) << spec << ",limit=" << (static_cast<double>(bytes) + 0.5) / (std::uint64_t{1} << 30);
  return text.str();
}

/// Returns the error of loading with a limit on the size of files.
std::string error_with_limit(const std::string& spec, std::uint64_t most_file_bytes) {
  try {
    load_data(with_limit(spec, most_file_bytes), 1);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_data);
    return e.what();
  }
  return "no error";
}

TEST(file_limit, holds_for_a_file_and_for_what_it_unpacks_to) {
  const scratch_folder folder;
  const std::string rows = "1,0\n" + std::string(100'000, '\n') + "2,1\n";
  const auto plain = "csv:train=" + folder.write("rows.csv", rows);
  const auto packed = "csv:train=" + folder.write("rows.csv.gz", gzipped(rows));
  ASSERT_LT(gzipped(rows).size(), 1000u);
  for (const auto& spec : {plain, packed}) {
    EXPECT_EQ(error_with_limit(spec, rows.size()), "no error");
    EXPECT_THAT(error_with_limit(spec, rows.size() - 1),
                AllOf(HasSubstr("larger than 97.66 KiB"), HasSubstr("limit=")));
  }
  EXPECT_THAT(error_with_limit(packed, 1000), HasSubstr("rows.csv.gz' is larger than 1000 bytes when unpacked"));
  const auto libsvm = "libsvm:train=" + folder.write("rows.svm", "1 1:1\n0 2:1\n");
  EXPECT_THAT(error_with_limit(libsvm, 11), HasSubstr("rows.svm' is larger than 11 bytes"));
}

TEST(file_limit, holds_for_the_files_of_a_folder) {
  const tiny_mnist files;
  EXPECT_EQ(error_with_limit(files.spec, 100), "no error");
  EXPECT_THAT(error_with_limit(files.spec, 17), HasSubstr("train-images-idx3-ubyte' is larger than 17 bytes"));
}

TEST(file_limit, leaves_devices_alone) {
  for (const char* spec : {"csv:train=/dev/zero", "libsvm:train=/dev/zero"})
    EXPECT_THAT(load_error(errc::io, spec), HasSubstr("'/dev/zero': it is neither a regular file nor a pipe"));
}

std::string record(char label, char red, char green, char blue) {
  std::string bytes(1, label);
  for (const char channel : {red, green, blue})
    bytes.append(1024, channel);
  return bytes;
}

TEST(cifar10, joins_the_batches_and_standardises_each_channel) {
  const scratch_folder folder;
  folder.write("data_batch_1.bin", record(1, 0, 10, 20));
  folder.write("data_batch_2.bin.gz", gzipped(record(2, 100, 10, 60)));
  folder.write("test_batch.bin", record(9, 50, 11, 100));
  folder.write("batches.meta.txt", "airplane\n");
  const auto split = load_data("cifar10:dir=" + folder.path(), 1);
  expect_consistent(split);
  EXPECT_EQ(split.train.samples, 2u);
  EXPECT_THAT(split.train.targets, ElementsAre(1, 2));
  EXPECT_EQ(split.test.class_names[9], "truck");
  const auto channel = [](const dataset& data, std::size_t i, std::ptrdiff_t c) {
    const auto row = dense_row(data, i);
    return std::vector<float>(row.begin() + 1024 * c, row.begin() + 1024 * (c + 1));
  };
  EXPECT_THAT(channel(split.train, 0, 0), Each(testing::FloatNear(-1, 1e-5f)));
  EXPECT_THAT(channel(split.train, 1, 0), Each(testing::FloatNear(1, 1e-5f)));
  EXPECT_THAT(channel(split.train, 0, 1), Each(testing::FloatNear(0, 1e-5f))); // a constant channel
  EXPECT_THAT(channel(split.test, 0, 0), Each(testing::FloatNear(0, 1e-5f)));
  EXPECT_THAT(channel(split.test, 0, 2), Each(testing::FloatNear(3, 1e-5f)));
}

TEST(cifar10, is_alike_wherever_it_lies) {
  const scratch_folder folder;
  folder.write("data_batch_1.bin", record(1, 0, 10, 20) + record(3, 7, 8, 9));
  folder.write("data_batch_2.bin.gz", gzipped(record(2, 100, 10, 60)));
  folder.write("data_batch_3.bin", record(4, 50, 1, 2));
  folder.write("test_batch.bin", record(9, 50, 11, 100));
  const auto spec = "cifar10:dir=" + folder.path();
  const auto mapped = load_data(spec + ",mapped=yes,block=7", 1), in_memory = load_data(spec + ",mapped=no", 1);
  expect_alike(mapped, in_memory);
  EXPECT_TRUE(mapped.train.bytes.mapped && mapped.test.bytes.mapped);
  EXPECT_FALSE(in_memory.train.bytes.mapped || in_memory.test.bytes.mapped);
  EXPECT_EQ(mapped.train.shuffled_block, 7u);
  EXPECT_EQ(in_memory.train.shuffled_block, 0u);
}

std::vector<std::string> roles_of(const data_files& files) {
  std::vector<std::string> roles;
  for (const auto& [role, path] : files)
    roles.push_back(role);
  return roles;
}

/// Expects a set to load from a folder in which its files have other names.
void expect_loads_from_elsewhere(const std::string& spec) {
  SCOPED_TRACE(spec);
  const scratch_folder other;
  data_files elsewhere;
  for (const auto& [role, path] : find_data(spec)) {
    elsewhere[role] = other.path() + "/" + std::to_string(elsewhere.size());
    std::filesystem::copy_file(path, elsewhere[role]);
  }
  const auto here = load_data(spec, 1), there = load_data(spec, 1, "/nowhere", elsewhere);
  EXPECT_EQ(dense_values(there.train), dense_values(here.train));
  EXPECT_EQ(there.train.values, here.train.values);
  EXPECT_EQ(there.test.targets, here.test.targets);
  for (const auto& role : roles_of(elsewhere)) {
    auto fewer = elsewhere;
    fewer.erase(role);
    fewer.emplace("another", "file");
    try {
      load_data(spec, 1, {}, fewer);
      ADD_FAILURE() << role << " is not needed";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_data);
      EXPECT_THAT(e.what(), HasSubstr("the files of the data lack '"));
    }
  }
}

TEST(data_files, are_named_alike_wherever_they_lie) {
  const tiny_mnist pictures;
  EXPECT_THAT(roles_of(find_data(pictures.spec)), ElementsAre("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
                                                              "train-images-idx3-ubyte", "train-labels-idx1-ubyte"));
  expect_loads_from_elsewhere(pictures.spec);
  const scratch_folder folder;
  folder.write("data_batch_1.bin.gz", gzipped(record(1, 0, 10, 20)));
  folder.write("test_batch.bin", record(9, 50, 11, 100));
  expect_loads_from_elsewhere("cifar10:dir=" + folder.path());
  const auto rows = folder.write("rows", "1,2,a\n3,4,b\n"), sparse = folder.write("sparse", "1 1:2\n-1 2:1\n");
  for (const auto& spec : {"csv:train=" + rows + ",test=" + rows, "libsvm:train=" + sparse + ",test=" + sparse}) {
    EXPECT_THAT(roles_of(find_data(spec)), ElementsAre("test", "train"));
    expect_loads_from_elsewhere(spec);
  }
  expect_loads_from_elsewhere("csv:train=" + rows);
  EXPECT_THAT(find_data("csv:train=rows", "/data").at("train"), "/data/rows");
  EXPECT_TRUE(find_data("digits").empty());
}

TEST(cifar10, refuses_what_is_not_whole) {
  const scratch_folder folder;
  const auto spec = "cifar10:dir=" + folder.path();
  EXPECT_THAT(load_error(errc::io, spec), HasSubstr("holds no data_batch_*.bin"));
  EXPECT_THAT(load_error(errc::io, spec + "/none"), HasSubstr("No such file or directory"));
  folder.write("test_batch.bin", record(0, 1, 2, 3));
  folder.write("data_batch_1.bin", record(0, 1, 2, 3) + record(10, 1, 2, 3));
  EXPECT_THAT(load_error(errc::bad_data, spec), HasSubstr("data_batch_1.bin', byte 3073: label 10; allowed: 0 to 9"));
  folder.write("data_batch_1.bin", record(0, 1, 2, 3) + "x");
  EXPECT_THAT(load_error(errc::bad_data, spec), HasSubstr("byte 3074: the file ends here"));
  folder.write("data_batch_1.bin", "");
  EXPECT_THAT(load_error(errc::bad_data, spec), HasSubstr("byte 0"));
}

} // namespace
} // namespace gossamer::compute
