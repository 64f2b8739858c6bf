// Other programs under way.
#include "gossamer/apps/detail/child.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <poll.h>

namespace gossamer::apps {
namespace {

TEST(child, that_reads_nothing_holds_nobody_up) {
  child asleep{{"sleep", "1000"}};
  const std::string long_line(60'000, 'x');
  int taken = 0;
  while (taken < 100 && asleep.write_line(long_line))
    ++taken;
  EXPECT_GT(taken, 15);
  EXPECT_LT(taken, 100);
}

TEST(child, gets_what_waited_for_it) {
  child counts{{"sh", "-c", "head -n 12 | wc -c"}};
  counts.send_signal(SIGSTOP);
  for (int k = 0; k < 12; ++k)
    ASSERT_TRUE(counts.write_line(std::string(59'999, 'x')));
  counts.send_signal(SIGCONT);
  std::string said;
  while (counts.outputs() != std::array{-1, -1}) {
    pollfd output{counts.outputs()[0], POLLIN, 0};
    poll(&output, 1, 10);
    counts.read_lines([&](bool, const std::string& line) { said += line; });
  }
  EXPECT_EQ(said, "720000");
}

} // namespace
} // namespace gossamer::apps
