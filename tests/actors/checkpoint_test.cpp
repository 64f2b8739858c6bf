#include "gossamer/actors/evaluation/checkpoint_folder.hpp"
#include "gossamer/base/error.hpp"
#include "gossamer/base/file.hpp"

#include <gmock/gmock.h>

#include "support/scratch_folder.hpp"

namespace gossamer::actors {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

saved_worker part_of(rank who, std::uint64_t checkpoint) {
  return {.checkpoint = checkpoint,
          .who = who,
          .incarnation = 2,
          .random_life = 1,
          .gradients = 70 + who,
          .sent = {.frames = 5, .payload_bits = 600, .wire_bits = 700, .bits_between_islands = 500},
          .state = std::vector<std::byte>(20 + who, std::byte{static_cast<unsigned char>(checkpoint)})};
}

bool are_same(const saved_worker& a, const saved_worker& b) {
  return a.checkpoint == b.checkpoint && a.who == b.who && a.incarnation == b.incarnation
         && a.random_life == b.random_life && a.gradients == b.gradients && a.sent == b.sent && a.state == b.state;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

/// A folder for the checkpoints of two workers and a master.
class checkpoint_folder_test : public testing::Test {
protected:
  void save(std::uint64_t checkpoint) {
    manifest m{.checkpoint = checkpoint, .workers = 2, .masters = 1, .time_s = 1.5, .former_gradients = 3};
    for (rank i = 0; i < 3; ++i) {
      const auto part = part_of(i, checkpoint);
      m.parts[i] = {folder_.save(part, 2), part.gradients, part.sent};
    }
    folder_.complete(m);
  }
  resumption newest() {
    return folder_.newest([this](const std::string& what) { complaints_.push_back(what); });
  }
  std::string file(std::uint64_t checkpoint, const std::string& name) const {
    return (folder_.path() / std::to_string(checkpoint) / name).string();
  }
  void spoil(const std::string& path) const {
    auto bytes = read_file(path, {"checkpoint", 1 << 20});
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    replace_durably(path, bytes_of(bytes), "");
  }

  test::scratch_folder scratch_;
  checkpoint_folder folder_{fs::path{scratch_.path()} / "checkpoints"};
  std::vector<std::string> complaints_;
};

TEST(saved_worker_file, is_read_back) {
  const auto part = part_of(7, 12);
  EXPECT_TRUE(are_same(read_saved_worker(write(part), "a file"), part));
}

TEST(saved_worker_file, is_refused_wherever_it_is_cut_or_bent) {
  const auto whole = write(part_of(7, 12));
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_THROW(read_saved_worker(std::span{whole}.first(k), "a file"), error) << k;
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto bent = whole;
      bent[k] ^= static_cast<std::byte>(1u << bit);
      EXPECT_THROW(read_saved_worker(bent, "a file"), error) << k << ' ' << bit;
    }
  }
}

TEST(manifest_file, is_read_back_and_refused_wherever_it_is_cut_or_bent) {
  manifest m{
      .checkpoint = 9, .workers = 2, .masters = 0, .steps = 27, .time_s = 2.5, .samples = 1728, .former_gradients = 4};
  m.former_sent = {.frames = 1, .payload_bits = 2, .wire_bits = 3, .bits_between_islands = 1};
  m.parts[0] = {.digest = 11, .gradients = 20, .sent = {.frames = 4, .payload_bits = 5, .wire_bits = 6}};
  m.parts[1] = {.digest = 12, .gradients = 30, .sent = {}};
  const auto whole = write(m);
  const auto read = read_manifest(whole, "a file");
  EXPECT_EQ(read.updates(), 54u);
  EXPECT_EQ(read.steps, 27);
  EXPECT_EQ(read.time_s, 2.5);
  EXPECT_EQ(read.samples, 1728u);
  EXPECT_EQ(read.former_sent, m.former_sent);
  EXPECT_EQ(read.parts.at(0).sent, m.parts[0].sent);
  EXPECT_EQ(read.parts.at(1).digest, 12u);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_THROW(read_manifest(std::span{whole}.first(k), "a file"), error) << k;
    auto bent = whole;
    bent[k] ^= std::byte{0x10};
    EXPECT_THROW(read_manifest(bent, "a file"), error) << k;
  }
}

TEST_F(checkpoint_folder_test, does_not_make_the_folder_of_its_run_again) {
  save(1);
  const auto moved = scratch_.path() + "-moved";
  fs::rename(scratch_.path(), moved);
  EXPECT_THAT([this] { save(2); }, testing::ThrowsMessage<error>(HasSubstr("was moved or removed while the run")));
  EXPECT_FALSE(fs::exists(scratch_.path()));
  fs::rename(moved, scratch_.path());
  save(3);
  EXPECT_EQ(newest().all.checkpoint, 3);
}

TEST_F(checkpoint_folder_test, is_made_on_a_machine_that_does_not_have_the_folder_of_the_run) {
  const checkpoint_folder elsewhere{fs::path{scratch_.path()} / "no run" / "checkpoints"};
  EXPECT_NO_THROW(elsewhere.save(part_of(0, 1), 2));
}

TEST_F(checkpoint_folder_test, gives_the_newest_one_back) {
  save(20);
  save(100);
  const auto found = newest();
  EXPECT_EQ(found.all.checkpoint, 100u);
  ASSERT_THAT(found.parts, SizeIs(3));
  EXPECT_TRUE(are_same(found.parts.at(2), part_of(2, 100)));
  EXPECT_THAT(complaints_, IsEmpty());
  EXPECT_TRUE(fs::exists(file(100, "worker-1")));
  EXPECT_TRUE(fs::exists(file(100, "master-0")));
}

TEST_F(checkpoint_folder_test, takes_the_one_before_where_anything_is_damaged_or_missing) {
  for (const auto* name : {"worker-0", "worker-1", "master-0", "manifest"}) {
    for (const bool missing : {false, true}) {
      save(20);
      save(30);
      missing ? void(fs::remove(file(30, name))) : spoil(file(30, name));
      complaints_.clear();
      EXPECT_EQ(newest().all.checkpoint, 20u) << name;
      // A checkpoint without a manifest was never complete, and causes no complaint.
      if (!missing || std::string{name} != "manifest") {
        EXPECT_THAT(complaints_, ElementsAre(HasSubstr("checkpoint 30 cannot be used: "))) << name;
      }
    }
  }
}

TEST_F(checkpoint_folder_test, takes_the_one_before_where_a_master_had_no_part) {
  save(20);
  manifest m{.checkpoint = 30, .workers = 2, .masters = 1};
  for (rank i = 0; i < 2; ++i) {
    const auto part = part_of(i, 30);
    m.parts[i] = {folder_.save(part, 2), part.gradients, part.sent};
  }
  folder_.complete(m);
  EXPECT_EQ(newest().all.checkpoint, 20u);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("lists parts of 0 of 1 masters")));
  const auto of_many = folder_.newest_of_many([](const std::string&) {});
  EXPECT_EQ(of_many.all.checkpoint, 20u);
}

TEST_F(checkpoint_folder_test, does_not_take_a_part_of_another_checkpoint) {
  save(20);
  save(30);
  fs::copy_file(file(20, "worker-1"), file(30, "worker-1"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(newest().all.checkpoint, 20u);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("worker-1 is damaged, or of another run")));
}

TEST_F(checkpoint_folder_test, says_of_which_one_the_system_does_not_say_whether_it_is_complete) {
  save(20);
  fs::create_symlink("30", folder_.path() / "30");
  EXPECT_EQ(newest().all.checkpoint, 20u);
  EXPECT_THAT(complaints_, ElementsAre(AllOf(HasSubstr("checkpoint 30 cannot be used: cannot read "),
                                             HasSubstr("Too many levels of symbolic links"))));
}

TEST_F(checkpoint_folder_test, says_when_there_is_none) {
  EXPECT_THROW(newest(), error);
  folder_.save(part_of(0, 5), 2); // leaves a checkpoint without a manifest
  try {
    newest();
    FAIL() << "there is one";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::bad_data);
    EXPECT_THAT(e.what(), HasSubstr("holds no checkpoint that is whole; train with --checkpoint"));
  }
}

TEST_F(checkpoint_folder_test, does_with_the_parts_that_are_here_when_others_are_elsewhere) {
  save(20);
  fs::remove(file(20, "worker-0"));
  const auto found = folder_.newest_of_many([](const std::string&) {});
  EXPECT_THAT(found.parts, SizeIs(2));
  EXPECT_THAT(found.all.parts, SizeIs(3));
  EXPECT_FALSE(found.parts.contains(0));
}

TEST_F(checkpoint_folder_test, does_without_the_manifest_where_that_was_told) {
  save(20);
  const auto told = newest().all;
  fs::remove(file(20, "manifest"));
  fs::remove(file(20, "worker-0"));
  const auto complain = [](const std::string& what) { ADD_FAILURE() << what; };
  const auto found = folder_.parts_here(told, complain);
  EXPECT_EQ(found.all.checkpoint, 20u);
  EXPECT_THAT(found.parts, SizeIs(2));
  EXPECT_THAT(checkpoint_folder{scratch_.path() + "/nowhere"}.parts_here(told, complain).parts, IsEmpty());
}

TEST_F(checkpoint_folder_test, does_not_take_a_damaged_part_for_one_that_is_elsewhere) {
  save(20);
  save(30);
  const auto told = newest().all;
  fs::remove(file(30, "worker-0"));
  spoil(file(30, "worker-1"));
  const auto complain = [this](const std::string& line) { complaints_.push_back(line); };
  const auto found = folder_.newest_of_many(complain);
  EXPECT_EQ(found.all.checkpoint, 20u);
  EXPECT_THAT(found.parts, SizeIs(3));
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("checkpoint 30 cannot be used: ")));
  EXPECT_THAT(folder_.parts_here(told, complain).parts, SizeIs(1)) << "a node whose ranks these are not goes on";
}

TEST_F(checkpoint_folder_test, keeps_two_that_are_complete) {
  for (const std::uint64_t checkpoint : {1u, 2u, 3u, 4u, 5u})
    save(checkpoint);
  fs::remove(file(3, "manifest"));
  folder_.keep_newest(4);
  EXPECT_FALSE(fs::exists(folder_.path() / "1"));
  EXPECT_TRUE(fs::exists(folder_.path() / "2"));
  EXPECT_FALSE(fs::exists(folder_.path() / "3")) << "it was never complete";
  EXPECT_TRUE(fs::exists(folder_.path() / "4"));
  EXPECT_TRUE(fs::exists(folder_.path() / "5")) << "it is being written";
}

TEST_F(checkpoint_folder_test, keeps_what_was_complete_under_a_former_leader) {
  save(2);
  save(1'000'001);
  folder_.keep_newest(1'000'001);
  EXPECT_EQ(newest().all.checkpoint, 1'000'001u);
  spoil(file(1'000'001, "worker-0"));
  EXPECT_EQ(newest().all.checkpoint, 2u);
}

TEST_F(checkpoint_folder_test, discards_parts_but_nothing_that_is_complete) {
  save(2);
  folder_.save(part_of(0, 4), 2);
  folder_.discard(2);
  folder_.discard(4);
  EXPECT_TRUE(fs::exists(file(2, "worker-0")));
  EXPECT_FALSE(fs::exists(folder_.path() / "4"));
}

TEST_F(checkpoint_folder_test, says_what_the_system_refuses) {
  scratch_.write("checkpoints", "a file where a folder should be");
  try {
    newest();
    FAIL() << "it was read";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    EXPECT_THAT(e.what(), AllOf(HasSubstr("cannot read "), HasSubstr("Not a directory")));
  }
  try {
    folder_.save(part_of(0, 5), 2);
    FAIL() << "it was written";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::io);
    EXPECT_THAT(e.what(), HasSubstr("cannot make "));
  }
}

TEST(durable_file, is_replaced_as_a_whole_and_leaves_nothing_beside_it) {
  const test::scratch_folder scratch;
  const auto path = scratch.path() + "/file";
  for (const std::string text : {"one", "another one", ""}) {
    replace_durably(path, bytes_of(text), "");
    EXPECT_EQ(read_file(path, {"test file", 100}), text);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator{scratch.path()}, fs::directory_iterator{}), 1);
}

} // namespace

} // namespace gossamer::actors
