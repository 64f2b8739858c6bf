// Runs that fail before they have begun.
#include "gossamer/apps/detail/training.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <new>

#include "support/scratch_folder.hpp"

namespace gossamer::apps {
namespace {

class failed_run : public testing::Test {
protected:
  failed_run() {
    options_.run.data = "digits:samples=60,test=20";
    options_.out = folder_.path() + "/run";
  }

  /// Trains in a world that only fails.
  void train(const std::function<void(live_output&)>& fail) {
    live_output output{program_, {.in_place = false}};
    train_in(program_, options_, output, [&](const auto&...) {
      EXPECT_TRUE(std::filesystem::exists(options_.out));
      fail(output);
      return actors::run_summary{};
    });
  }
  bool has_left_its_folder() const { return std::filesystem::exists(options_.out); }

  test::scratch_folder folder_;
  const program program_{"gossamer", {}};
  run_options options_;
};

TEST_F(failed_run, leaves_no_folder_when_memory_ends) {
  EXPECT_THROW(train([](live_output&) { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_FALSE(has_left_its_folder());
}

TEST_F(failed_run, says_why_it_failed_although_the_thread_of_the_disk_has_failed_too) {
  EXPECT_THROW(train([](live_output& output) {
                 output.disk().post([] { throw std::bad_alloc(); });
                 EXPECT_THROW(output.disk().finish(), std::bad_alloc);
                 throw error(errc::failed, "most nodes are lost");
               }),
               error);
  EXPECT_FALSE(has_left_its_folder());
}

} // namespace
} // namespace gossamer::apps
