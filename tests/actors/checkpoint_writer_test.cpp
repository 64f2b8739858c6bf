// The writer of checkpoints as nodes meet it: an actor.
#include "gossamer/actors/hosting/checkpoint_writer.hpp"
#include "gossamer/actors/hosting/messages.hpp"

#include <caf/all.hpp>
#include <gmock/gmock.h>

#include <unistd.h>

#include "support/little_memory.hpp"
#include "support/scratch_folder.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class checkpoint_writer_test : public testing::Test {
protected:
  ~checkpoint_writer_test() override { caf::anon_send_exit(writer_, caf::exit_reason::user_shutdown); }

  void save(rank who, std::uint64_t checkpoint) {
    self_->send(writer_, saved_worker{.checkpoint = checkpoint, .who = who, .sent = {}, .state = {}});
  }
  /// Returns the checkpoint of the part that is safe next.
  std::uint64_t next_saved() {
    std::uint64_t checkpoint = 0;
    self_->receive([&](const part_saved& m) { checkpoint = m.checkpoint; });
    return checkpoint;
  }
  /// Returns why the next part is not safe.
  std::string next_refusal() {
    std::string why;
    self_->receive([&](const part_not_saved& m) { why = m.why; });
    return why;
  }
  bool has(std::uint64_t checkpoint) const { return fs::exists(folder_.path() / std::to_string(checkpoint)); }

  test::scratch_folder scratch_;
  checkpoint_folder folder_{fs::path{scratch_.path()} / "checkpoints"};
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  caf::actor writer_ = spawn_checkpoint_writer(system_, {folder_, 2, caf::actor{self_}});
};

TEST_F(checkpoint_writer_test, removes_the_parts_of_a_checkpoint_that_is_given_up_and_takes_no_more) {
  save(0, 20);
  EXPECT_EQ(next_saved(), 20u);
  EXPECT_TRUE(has(20));
  self_->send(writer_, part_not_saved{20, "the disk of another node is full"});
  save(1, 20);
  save(0, 30);
  EXPECT_EQ(next_saved(), 30u) << "the part that came late is passed over";
  EXPECT_FALSE(has(20));
  EXPECT_TRUE(has(30));
}

TEST_F(checkpoint_writer_test, says_what_the_system_refuses) {
  scratch_.write("checkpoints", "a file where a folder should be");
  save(0, 20);
  EXPECT_THAT(next_refusal(), HasSubstr("cannot make "));
}

TEST_F(checkpoint_writer_test, says_that_memory_has_ended_and_goes_on) {
  if (!test::little_memory::is_possible)
    GTEST_SKIP() << "a sanitizer ends the process where memory ends";
  saved_worker part{.checkpoint = 20, .who = 0, .sent = {}, .state = std::vector<std::byte>(256 << 20)};
  {
    const test::little_memory limit{64 << 20};
    self_->send(writer_, std::move(part));
    EXPECT_THAT(next_refusal(), HasSubstr("the writer of checkpoints ran out of memory"));
  }
  save(0, 30);
  EXPECT_EQ(next_saved(), 30u);
}

TEST_F(checkpoint_writer_test, has_made_room_when_it_says_that_the_disk_has_none) {
  save(0, 20);
  EXPECT_EQ(next_saved(), 20u);
  fs::create_directories(folder_.path() / "20" / "worker-1" / "in the way");
  save(1, 20);
  EXPECT_THAT(next_refusal(), HasSubstr("cannot write "));
  EXPECT_FALSE(has(20));
  save(1, 20);
  save(0, 30);
  EXPECT_EQ(next_saved(), 30u) << "what is given up is not begun anew";
  EXPECT_FALSE(has(20));
}

TEST_F(checkpoint_writer_test, keeps_the_parts_of_a_complete_checkpoint_whose_manifest_cannot_be_written_here) {
  save(0, 20);
  EXPECT_EQ(next_saved(), 20u);
  fs::create_directories(folder_.path() / "20" / ("manifest.part-" + std::to_string(getpid())));
  self_->send(writer_, checkpoint_complete{{.checkpoint = 20, .workers = 2}});
  EXPECT_THAT(next_refusal(), HasSubstr("cannot write "));
  EXPECT_TRUE(has(20));
}

} // namespace
} // namespace gossamer::actors
