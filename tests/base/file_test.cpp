#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

#include "support/filled_pipe.hpp"

namespace gossamer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class file_reading : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& content) const {
    const auto path = (folder_ / "file").string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string refusal(errc code, const std::string& path, std::uint64_t most_bytes = 100) {
    try {
      read_file(path, {"list", most_bytes, "write less"});
    } catch (const error& e) {
      EXPECT_EQ(e.code(), code);
      return e.what();
    }
    ADD_FAILURE() << path << " was read";
    return {};
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("gossamer-file-" + std::to_string(getpid()));
};

TEST_F(file_reading, reads_all_up_to_the_limit) {
  const auto path = write(std::string(100, 'x'));
  EXPECT_EQ(read_file(path, {"list", 100}), std::string(100, 'x'));
  EXPECT_THAT(refusal(errc::bad_data, path, 99), AllOf(HasSubstr("is larger than 99 bytes"), EndsWith("; write less")));
  EXPECT_EQ(read_file(write(""), {"list", 0}), "");
}

TEST_F(file_reading, refuses_a_large_file_before_it_is_read) {
  const auto path = write("");
  std::filesystem::resize_file(path, std::uint64_t{1} << 40); // a file without blocks, an hour of reading
  EXPECT_THAT(refusal(errc::bad_data, path, std::uint64_t{1} << 32), HasSubstr("is larger than 4 GiB"));
}

TEST_F(file_reading, refuses_what_has_no_end) {
  EXPECT_THAT(refusal(errc::io, "/dev/zero"),
              HasSubstr("cannot read the list '/dev/zero': it is neither a regular file nor a pipe"));
  EXPECT_THAT(refusal(errc::io, folder_.string()), EndsWith("Is a directory"));
  EXPECT_THAT(refusal(errc::io, (folder_ / "absent").string()), EndsWith("No such file or directory"));
}

TEST_F(file_reading, tells_a_file_that_is_missing_from_one_of_which_the_system_does_not_say) {
  EXPECT_TRUE(file_exists(write("")));
  EXPECT_FALSE(file_exists((folder_ / "absent").string()));
  EXPECT_FALSE(file_exists((folder_ / "file" / "below").string()));
  std::filesystem::create_symlink("circle", folder_ / "circle");
  try {
    file_exists((folder_ / "circle" / "below").string());
    FAIL() << "the system said";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("cannot read '"), EndsWith("below': Too many levels of symbolic links")));
  }
}

TEST_F(file_reading, reads_a_pipe_to_its_end_or_its_limit) {
  const auto from_pipe = [&](std::size_t bytes, auto read) {
    const test::filled_pipe pipe{std::string(bytes, 'y')};
    read(pipe.path());
  };
  from_pipe(50'000, [&](const auto& path) { EXPECT_EQ(read_file(path, {"list", 50'000}).size(), 50'000u); });
  from_pipe(101,
            [&](const auto& path) { EXPECT_THAT(refusal(errc::bad_data, path), HasSubstr("larger than 100 bytes")); });
}

TEST_F(file_reading, does_not_wait_for_who_may_write_into_a_named_pipe) {
  const auto path = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(errc::io, path), HasSubstr("it is a named pipe"));
}

TEST_F(file_reading, leaves_out_a_byte_order_mark) {
  EXPECT_EQ(read_text(write("\xEF\xBB\xBFtext"), {"list", 100}), "text");
  EXPECT_EQ(read_text(write("text"), {"list", 100}), "text");
}

TEST(read_lines, visits_those_that_end_however_long_the_file_is) {
  const auto path = testing::TempDir() + "gossamer-read_lines";
  std::string text, seen;
  for (int k = 0; k < 20'000; ++k)
    text += std::to_string(k) + (k % 7 == 0 ? "\n\n" : "\n");
  std::ofstream{path} << text << "begun";
  const auto keep = [&seen](std::string_view line) { (seen += line) += '\n'; };
  read_lines(path, {.noun = {}, .most_bytes = 5}, keep);
  EXPECT_EQ(seen, text);
  std::ofstream{path} << "123456\n";
  read_lines(path, {.noun = {}, .most_bytes = 5}, keep); // holds no more than one block at a time
  std::ofstream{path} << "123456";
  EXPECT_THROW(read_lines(path, {.noun = {}, .most_bytes = 5}, keep), error);
  EXPECT_THROW(read_lines(path + "-absent", {.noun = {}, .most_bytes = 5}, keep), error);
  std::filesystem::remove(path);
}

void replace(const std::filesystem::path& file, std::string_view text) {
  replace_durably(file.string(), std::as_bytes(std::span{text}), "");
}

TEST_F(file_reading, finds_what_has_replaced_a_file_where_links_lead) {
  const auto file = write("old"), link = (folder_ / "link").string();
  std::filesystem::create_symlink("file", link);
  replace(link, "new");
  EXPECT_EQ(read_file(file, {.noun = "file", .most_bytes = 10}), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(file_reading, finds_the_old_file_and_nothing_beside_it_when_it_could_not_be_replaced) {
  const auto file = write("old"), beside = file + ".part";
  const auto text = std::as_bytes(std::span{std::string_view{"new"}});
  std::filesystem::create_symlink("/dev/full", beside);
  EXPECT_EQ(replace_by_renaming(file, beside, text, false), ENOSPC);
  std::filesystem::create_directory(folder_ / "folder");
  EXPECT_EQ(replace_by_renaming((folder_ / "folder").string(), beside, text, false), EISDIR);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(beside)));
  EXPECT_EQ(read_file(file, {.noun = "file", .most_bytes = 10}), "old");
  EXPECT_EQ(replace_by_renaming(file, beside, text, true), 0);
  EXPECT_EQ(read_file(file, {.noun = "file", .most_bytes = 10}), "new");
}

TEST_F(file_reading, finds_what_was_written_into_a_pipe) {
  const auto pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  replace(pipe, "new");
  std::string there(3, ' ');
  EXPECT_EQ(::read(reader, there.data(), there.size()), 3);
  close(reader);
  EXPECT_EQ(there, "new");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(take_line, goes_through_all_lines) {
  std::string_view text = "one\n\nthree\r\nlast", line;
  std::vector<std::string_view> lines;
  while (take_line(text, line))
    lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("one", "", "three\r", "last"));
  text = "end\n";
  EXPECT_TRUE(take_line(text, line));
  EXPECT_FALSE(take_line(text, line));
}

TEST(byte_count, chooses_a_unit) {
  EXPECT_EQ(byte_count(1), "1 byte");
  EXPECT_EQ(byte_count(1023), "1023 bytes");
  EXPECT_EQ(byte_count(std::uint64_t{16} << 20), "16 MiB");
  EXPECT_EQ(byte_count(std::uint64_t{5} << 29), "2.5 GiB");
}

} // namespace
} // namespace gossamer
