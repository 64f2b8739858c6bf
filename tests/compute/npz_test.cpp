#include "gossamer/base/error.hpp"
#include "gossamer/compute/npz.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

#include "support/filled_pipe.hpp"
#include "support/full_disk.hpp"
#include "support/npz.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using tensors = std::vector<named_tensor>;
using test::scratch_folder;

const named_tensor weight{"layer0.weight", {2, 3}, {0, 0.5f, 1, 1.5f, 2, 2.5f}};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file in an archive.
struct entry {
  std::string name, bytes;
  int method = ZIP_CM_STORE;
};

struct npz_file {
  scratch_folder folder;
  std::string path = folder.path() + "/x.npz";

  npz_file() = default;
  explicit npz_file(const std::vector<entry>& entries) {
    auto* archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
    for (const auto& e : entries) {
      auto* source = zip_source_buffer(archive, e.bytes.data(), e.bytes.size(), 0);
      const auto index = zip_file_add(archive, e.name.c_str(), source, 0);
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), e.method, 0);
    }
    EXPECT_EQ(zip_close(archive), 0);
  }

  std::string error_with(const npz_limits& limits = {}) const {
    try {
      read_npz(path, limits);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::bad_data);
      return e.what();
    }
    return "no error";
  }
};

template <class... Numbers>
std::string bytes_of_all(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

/// Returns a .npy file of version 2.0.
std::string npy(const std::string& header, const std::string& elements, char major = 2) {
  return "\x93NUMPY" + std::string{major, '\0'} + bytes_of_all(static_cast<std::uint32_t>(header.size())) + header
         + elements;
}

std::string header(const std::string& type, const std::string& order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string error_of(const std::string& bytes) { return npz_file{{{"a.npy", bytes}}}.error_with(); }

TEST(npz, is_read_back_as_it_was_written) {
  const tensors all{weight,
                    {"b", {3}, {1, -2, 3}},
                    {"number", {}, {7}},
                    {"none", {2, 0, 5}, {}},
                    {"\xc3\xa9tage", {1, 1, 2}, {-0.0f, std::numeric_limits<float>::denorm_min()}}};
  const npz_file file;
  write_npz(file.path, all);
  EXPECT_EQ(read_npz(file.path), all);
  const auto first = bytes_of(file.path);
  write_npz(file.path, std::span{all}.first(1));
  EXPECT_EQ(read_npz(file.path), tensors{weight});
  write_npz(file.path, all);
  EXPECT_EQ(bytes_of(file.path), first) << "the same bytes every time";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.folder.path()), {}), 1) << "nothing is left beside";
}

TEST(npz, is_written_as_numpy_writes_arrays) {
  const npz_file file;
  write_npz(file.path, tensors{weight});
  const auto written = bytes_of(file.path), numpy = test::saved_by_numpy();
  const auto array_in = [](const std::string& archive) { return archive.substr(archive.find("\x93NUMPY"), 128 + 24); };
  EXPECT_EQ(array_in(written), array_in(numpy));
}

std::string refusal_to_write(const std::string& path, const tensors& t) {
  try {
    write_npz(path, t);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    return e.what();
  }
  return "no error";
}

TEST(npz, says_why_it_cannot_be_written) {
  const scratch_folder folder;
  EXPECT_THAT(refusal_to_write(folder.path() + "/none/x.npz", {weight}),
              AllOf(HasSubstr("cannot write '"), HasSubstr("No such file")));
  EXPECT_THAT(refusal_to_write(folder.path(), {weight}), HasSubstr("cannot write '"));
}

TEST(npz, keeps_the_old_file_when_the_disk_is_full) {
  const npz_file file;
  write_npz(file.path, tensors{weight});
  const named_tensor large{"large", {20'000}, large_vector<float>(20'000, 1)};
  for (const rlim_t room : {0u, 100u, 5000u, 79'999u, 80'200u}) {
    const test::full_disk disk{room};
    EXPECT_THAT(refusal_to_write(file.path, {large}), HasSubstr("File too large")) << room;
  }
  EXPECT_EQ(read_npz(file.path), tensors{weight});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.folder.path()), {}), 1) << "nothing is left beside";
}

TEST(npz, holds_what_numpy_saves) {
  const npz_file file;
  file.folder.write("x.npz", test::saved_by_numpy());
  EXPECT_EQ(read_npz(file.path), (tensors{weight, {"b", {}, {7}}}));
  file.folder.write("x.npz", test::packed_by_numpy());
  EXPECT_EQ(read_npz(file.path), (tensors{{"a", {2, 3}, weight.values}, {"b", {3, 2}, {1, -2, 3.5f, 4, 5, 6e3f}}}));
}

TEST(npz, takes_integers_and_truth_values_as_numbers) {
  const auto values_of = [](const std::string& type, const std::string& elements) {
    const npz_file file{{{"a.npy", npy(header(type, "False", "(2,)"), elements)}}};
    return read_npz(file.path)[0].values;
  };
  EXPECT_THAT(values_of("|b1", bytes_of_all(false, true)), ElementsAre(0, 1));
  EXPECT_THAT(values_of("|u1", bytes_of_all(std::uint8_t{1}, std::uint8_t{255})), ElementsAre(1, 255));
  EXPECT_THAT(values_of("|i1", bytes_of_all(std::int8_t{1}, std::int8_t{-1})), ElementsAre(1, -1));
  EXPECT_THAT(values_of("<u2", bytes_of_all(std::uint16_t{1}, std::uint16_t{65535})), ElementsAre(1, 65535));
  EXPECT_THAT(values_of("<i2", bytes_of_all(std::int16_t{1}, std::int16_t{-1})), ElementsAre(1, -1));
  EXPECT_THAT(values_of("<u4", bytes_of_all(std::uint32_t{1}, std::uint32_t{1} << 31)), ElementsAre(1, 0x1p31f));
  EXPECT_THAT(values_of("<i4", bytes_of_all(std::int32_t{1}, std::int32_t{-1})), ElementsAre(1, -1));
  EXPECT_THAT(values_of("<u8", bytes_of_all(std::uint64_t{1}, std::uint64_t{1} << 63)), ElementsAre(1, 0x1p63f));
  EXPECT_THAT(values_of("<i8", bytes_of_all(std::int64_t{1}, std::int64_t{-1})), ElementsAre(1, -1));
}

TEST(npz, turns_fortran_order_into_c_order_in_any_number_of_dimensions) {
  const std::vector<std::size_t> shape{2, 3, 4};
  std::string elements;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        elements += bytes_of_all(100. * i + 10. * j + k);
  const npz_file file{{{"a.npy", npy(header("<f8", "True", "(2, 3, 4)"), elements), ZIP_CM_DEFLATE}}};
  const auto read = read_npz(file.path);
  ASSERT_EQ(read[0].shape, shape);
  for (std::size_t i = 0, at = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k, ++at)
        ASSERT_EQ(read[0].values[at], static_cast<float>(100 * i + 10 * j + k));
}

TEST(npz, knows_all_versions_and_spellings_of_headers) {
  const auto one = bytes_of_all(1.5f);
  const std::string plain = header("<f4", "False", "(1,)");
  for (const auto& bytes :
       {npy(plain, one), npy(plain, one, 3), npy("{\"shape\":(1),'fortran_order':True,'descr':'<f4'}", one),
        "\x93NUMPY" + std::string{1, '\0'} + bytes_of_all(static_cast<std::uint16_t>(plain.size())) + plain + one})
    EXPECT_THAT(read_npz(npz_file{{{"a.npy", bytes}}}.path), ElementsAre(named_tensor{"a", {1}, {1.5f}}));
}

TEST(npz, makes_large_doubles_infinite) {
  const npz_file file{{{"a.npy", npy(header("<f8", "False", "()"), bytes_of_all(-1e300))}}};
  EXPECT_THAT(read_npz(file.path)[0].values, ElementsAre(-std::numeric_limits<float>::infinity()));
}

TEST(npz, says_what_is_wrong_with_an_array) {
  const auto one = bytes_of_all(1.5f), eight = bytes_of_all(1.5);
  EXPECT_THAT(error_of("short"), HasSubstr("x.npz': array 'a': it ends before"));
  EXPECT_THAT(error_of("these are no numbers"), HasSubstr("not in the .npy format"));
  EXPECT_THAT(error_of(npy("{}", one, 4)), HasSubstr("version 4.0 of the .npy format; allowed: 1.0 to 3.0"));
  EXPECT_THAT(error_of(npy(header("<c8", "False", "(1,)"), eight)),
              AllOf(HasSubstr("of type '<c8'; allowed: <f4, <f8, "), HasSubstr("astype")));
  EXPECT_THAT(error_of(npy(header(">f4", "False", "(1,)"), one)), HasSubstr("of type '>f4'"));
  EXPECT_THAT(error_of(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", one)),
              HasSubstr("structured array"));
  EXPECT_THAT(error_of(npy(header("<f4", "False", "(2,)"), one)),
              HasSubstr("is not the size of an array of shape (2,)"));
  EXPECT_THAT(error_of(npy(header("<f4", "False", "(1,)"), eight)), HasSubstr("is not the size of"));
  std::string deep = "(1";
  for (int i = 0; i < 64; ++i)
    deep += ",1";
  EXPECT_THAT(error_of(npy(header("<f4", "False", deep + ")"), one)), HasSubstr("more than 64 dimensions"));
  for (const auto* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'shape': (1,)}", "{'shape': (-1,)}", "{'shape': (1",
        "{'shape': (1, 99999999999999999999)}", "{'descr", "{'a': 1}", "{'fortran_order': 1}",
        "{'descr': '<f4', 'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"})
    EXPECT_THAT(error_of(npy(text, one)), HasSubstr("its header does not say")) << text;
}

TEST(npz, believes_no_header_that_claims_more_than_there_is) {
  for (const auto* shape : {"(18446744073709551615,)", "(4294967296, 4294967296)", "(3, 6148914691236517206)",
                            "(4294967296, 4294967296, 4294967296, 4294967296)", "(4611686018427387905,)"})
    EXPECT_THAT(error_of(npy(header("<f4", "False", shape), "1234")), HasSubstr("is not the size of")) << shape;
  auto endless = npy("", "");
  endless.replace(8, 4, "\xff\xff\xff\xff");
  EXPECT_THAT(error_of(endless), HasSubstr("header has 4294967295 bytes"));
}

TEST(npz, says_what_is_wrong_with_an_archive) {
  const auto good = npy(header("<f4", "False", "(1,)"), bytes_of_all(1.5f));
  EXPECT_THAT((npz_file{{{"a.npy", good}, {"notes.txt", "text"}}}.error_with()),
              HasSubstr("'notes.txt' in it is no array"));
  EXPECT_THAT((npz_file{{{"a.npy", good, ZIP_CM_BZIP2}}}.error_with()), HasSubstr("packed with method 12; allowed: 0"));
  EXPECT_THAT((npz_file{{{std::string(5000, 'a') + ".npy", good}}}.error_with()), HasSubstr("the name of entry 0 has"));
  const npz_file file;
  file.folder.write("x.npz", good);
  EXPECT_THAT(file.error_with(), AllOf(HasSubstr("it is a single array (.npy)"), HasSubstr("numpy.savez(")));
  file.folder.write("x.npz", "no archive");
  EXPECT_THAT(file.error_with(), HasSubstr("it is no .npz file, or a damaged one (Not a zip archive)"));
  file.folder.write("x.npz", "");
  EXPECT_THAT(file.error_with(), HasSubstr("x.npz': it is empty"));
  EXPECT_THROW(read_npz(file.folder.path()), error) << "a folder";
}

TEST(npz, is_bounded_before_anything_is_unpacked) {
  const std::string zeros(1 << 20, '\0');
  const auto large = npy(header("<f4", "False", "(262144,)"), zeros);
  const npz_file bomb{{{"a.npy", large, ZIP_CM_DEFLATE}, {"b.npy", large, ZIP_CM_DEFLATE}}};
  ASSERT_LT(std::filesystem::file_size(bomb.path), 10'000u);
  EXPECT_EQ(bomb.error_with({.most_bytes = 2 * large.size()}), "no error");
  EXPECT_THAT(bomb.error_with({.most_bytes = 2 * large.size() - 1}),
              HasSubstr("arrays are larger than 2 MiB when unpacked"));
  EXPECT_THAT(bomb.error_with({.most_bytes = 1000}), HasSubstr("x.npz' is larger than 1000 bytes"));
  EXPECT_THAT(bomb.error_with({.most_arrays = 1}), HasSubstr("it holds 2 arrays; allowed: 1"));
}

/// A file in memory, fast enough for thousands of versions.
class memory_file {
public:
  memory_file() : file_(memfd_create("npz", MFD_CLOEXEC)) {}
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { close(file_); }

  tensors read(std::string_view bytes) const {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(bytes.size())), 0);
    EXPECT_EQ(pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return read_npz("/proc/self/fd/" + std::to_string(file_));
  }

private:
  int file_;
};

TEST(npz, is_read_alike_to_memory_to_mapped_files_and_from_a_pipe) {
  const npz_file file;
  for (const auto& whole : {test::saved_by_numpy(), test::packed_by_numpy()}) {
    file.folder.write("x.npz", whole);
    const auto in_memory = read_npz(file.path, {}, mapped_allocator<float>{UINT64_MAX});
    const auto mapped = read_npz(file.path, {}, mapped_allocator<float>{0});
    EXPECT_EQ(mapped, in_memory);
    EXPECT_EQ(mapped[0].values.get_allocator().most_in_memory(), 0u);
    EXPECT_EQ(read_npz(test::filled_pipe{whole}.path()), in_memory);
  }
}

TEST(npz, says_why_it_cannot_be_read) {
  const auto error_of_reading = [](const std::string& path) -> std::string {
    try {
      read_npz(path);
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::io);
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of_reading("/none/x.npz"), HasSubstr("cannot read '/none/x.npz': No such file"));
  EXPECT_THAT(error_of_reading("/dev/zero"), HasSubstr("it is neither a regular file nor a pipe"));
}

TEST(npz, that_is_cut_off_is_refused) {
  const memory_file file;
  for (const auto& whole : {test::saved_by_numpy(), test::packed_by_numpy()})
    for (std::size_t size = 0; size < whole.size(); ++size)
      ASSERT_THAT([&] { file.read(whole.substr(0, size)); },
                  testing::Throws<error>(testing::Property(&error::code, errc::bad_data)))
          << size;
}

TEST(npz, a_flipped_bit_is_an_error_or_without_effect) {
  const memory_file file;
  for (const auto& whole : {test::saved_by_numpy(), test::packed_by_numpy()}) {
    const auto content = file.read(whole);
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      auto flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      try {
        EXPECT_EQ(file.read(flipped), content) << "byte " << bit / 8 << ", bit " << bit % 8;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::bad_data) << bit;
      }
    }
  }
}

} // namespace
} // namespace gossamer::compute
