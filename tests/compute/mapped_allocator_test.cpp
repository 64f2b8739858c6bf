#include "gossamer/base/error.hpp"
#include "gossamer/compute/mapped_allocator.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include "support/environment.hpp"
#include "support/full_disk.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::compute {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using floats = large_vector<float>;

constexpr std::uint64_t all = 0, none = UINT64_MAX;

floats counting(std::uint64_t most_in_memory, std::size_t size) {
  floats result(size, mapped_allocator<float>{most_in_memory});
  std::iota(result.begin(), result.end(), 0.f);
  return result;
}

std::string mappings() {
  std::ifstream in("/proc/self/maps");
  return {std::istreambuf_iterator<char>(in), {}};
}

class mapped_vector : public testing::Test {
protected:
  /// True if this process has mapped a file of this folder.
  bool maps_a_file() const { return mappings().find(folder_.path()) != std::string::npos; }

  test::scratch_folder folder_;
  test::environment_variable folder_name_{"TMPDIR", folder_.path()};
};

TEST_F(mapped_vector, holds_what_one_in_memory_does) {
  for (const std::size_t size : {0u, 1u, 1023u, 1024u, 1025u, 100'000u})
    EXPECT_EQ(counting(all, size), counting(none, size));
}

TEST_F(mapped_vector, lies_in_a_file_without_a_name_that_ends_with_it) {
  {
    const auto mapped = counting(all, 3000);
    EXPECT_TRUE(maps_a_file());
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  }
  EXPECT_FALSE(maps_a_file());
}

TEST_F(mapped_vector, maps_more_bytes_than_the_threshold_alone) {
  constexpr std::uint64_t threshold = 4000;
  const auto below = counting(threshold, 1000);
  EXPECT_FALSE(maps_a_file());
  const auto above = counting(threshold, 1001);
  EXPECT_TRUE(maps_a_file());
}

TEST_F(mapped_vector, grows_and_shrinks_across_the_threshold) {
  floats v(mapped_allocator<float>{4000});
  for (int i = 0; i < 10'000; ++i) {
    v.push_back(static_cast<float>(i));
    ASSERT_EQ(maps_a_file(), v.capacity() > 1000) << i;
  }
  EXPECT_EQ(v, counting(4000, 10'000));
  v.resize(500);
  v.shrink_to_fit();
  EXPECT_FALSE(maps_a_file());
  EXPECT_EQ(v, counting(4000, 500));
}

TEST_F(mapped_vector, hands_its_threshold_on) {
  auto mapped = counting(all, 100);
  const auto copy = mapped;
  EXPECT_EQ(copy.get_allocator(), mapped.get_allocator());
  floats assigned = counting(none, 3), swapped = counting(none, 3), moved = counting(none, 3);
  EXPECT_NE(assigned.get_allocator(), mapped.get_allocator());
  assigned = mapped;
  EXPECT_EQ(assigned, mapped);
  EXPECT_EQ(assigned.get_allocator().most_in_memory(), all);
  swapped.swap(assigned);
  EXPECT_EQ(swapped, mapped);
  EXPECT_EQ(assigned, counting(none, 3));
  EXPECT_EQ(assigned.get_allocator().most_in_memory(), none);
  const float* before = mapped.data();
  moved = std::move(mapped);
  EXPECT_EQ(moved.data(), before);
  EXPECT_EQ(moved, copy);
}

TEST_F(mapped_vector, is_in_memory_by_default_unless_it_is_larger_than_half_of_it) {
  const floats v(100'000);
  EXPECT_FALSE(maps_a_file());
  EXPECT_GT(v.get_allocator().most_in_memory(), std::uint64_t{1} << 20);
}

TEST_F(mapped_vector, may_be_read_ahead_anywhere) {
  for (const auto most_in_memory : {all, none}) {
    const auto v = counting(most_in_memory, 10'000);
    for (const auto& [first, count] : {std::pair{0, 10'000}, std::pair{1023, 2}, std::pair{9999, 1}, std::pair{17, 0}})
      begin_reading(v, static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    EXPECT_EQ(v, counting(none, 10'000));
  }
}

std::string refusal(std::size_t size) {
  try {
    counting(all, size);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    return e.what();
  }
  return "no error";
}

TEST_F(mapped_vector, says_which_folder_has_no_room) {
  const test::full_disk disk{4096};
  EXPECT_EQ(refusal(1024), "no error");
  EXPECT_THAT(refusal(1025), AllOf(HasSubstr("cannot keep 4.004 KiB in a file in '" + folder_.path() + "': File too"),
                                   HasSubstr("TMPDIR")));
  EXPECT_FALSE(maps_a_file());
}

TEST_F(mapped_vector, says_which_folder_does_not_exist) {
  const test::environment_variable elsewhere{"TMPDIR", folder_.path() + "/none"};
  EXPECT_THAT(refusal(1024), HasSubstr("cannot keep 4 KiB in a file in '" + folder_.path() + "/none': No such file"));
}

TEST_F(mapped_vector, is_refused_when_no_disk_can_hold_it) {
  EXPECT_THAT(refusal(std::size_t{1} << 60), HasSubstr("in a file in '" + folder_.path()));
  EXPECT_THROW(mapped_allocator<float>{all}.allocate(SIZE_MAX / 2), std::bad_array_new_length);
}

} // namespace
} // namespace gossamer::compute
