// Files as they are served, described, fetched and kept: on a disk, without actors.
#include "gossamer/actors/run/experiment.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "fetched_files.hpp"

namespace gossamer::actors {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::scratch_folder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

struct shelf {
  scratch_folder folder;
  std::string large = random_bytes(3 * piece_bytes + 5, 1);
  compute::data_files paths{{"train", folder.write("a.csv", large)}, {"test", folder.write("b.csv", "")}};
  served_files served{[this] { return paths; }};
};

TEST(served_files, are_described_and_handed_out_piece_by_piece) {
  shelf s;
  const auto files = checked(catalogue_of(s.served));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].role, "test");
  EXPECT_EQ(files[1].role, "train");
  EXPECT_EQ(files[1].bytes, s.large.size());
  EXPECT_EQ(files[1].whole, digest_of(s.large));
  EXPECT_EQ(s.served.piece_of({0, 0, 0}), "");
  EXPECT_EQ(s.served.piece_of({1, 0, 3}), s.large.substr(3 * piece_bytes));
  EXPECT_EQ(digest_of(s.served.piece_of({1, 1, 0})), files[1].root);
}

TEST(served_files, are_read_a_little_at_a_time) {
  const scratch_folder folder;
  const auto path = folder.write("large", std::string(100 * piece_bytes, 'a'));
  served_files served{[&] { return compute::data_files{{"train", path}}; }};
  EXPECT_EQ(served.look_on(), nullptr);
  EXPECT_EQ(checked(catalogue_of(served))[0].whole, digest_of(std::string(100 * piece_bytes, 'a')));
}

TEST(served_files, refuse_what_there_is_not) {
  shelf s;
  EXPECT_THAT(refusal_of(errc::bad_packet,
                         [&] {
                           s.served.piece_of({0, 0, 0});
                         }),
              HasSubstr("file 0"))
      << "nobody has asked what there is";
  catalogue_of(s.served);
  for (const auto& what : {piece_id{2, 0, 0}, piece_id{1, 0, 4}, piece_id{1, 1, 1}, piece_id{1, 2, 0},
                           piece_id{0, 0, UINT64_MAX}, piece_id{UINT32_MAX, UINT32_MAX, UINT64_MAX}})
    EXPECT_THAT(refusal_of(errc::bad_packet, [&] { s.served.piece_of(what); }), HasSubstr("which there is not"));
}

TEST(served_files, do_not_hand_out_what_has_changed) {
  shelf s;
  catalogue_of(s.served);
  s.large[piece_bytes] ^= 1;
  s.folder.write("a.csv", s.large);
  EXPECT_EQ(s.served.piece_of({1, 0, 0}), s.large.substr(0, piece_bytes));
  EXPECT_THAT(refusal_of(errc::io,
                         [&] {
                           s.served.piece_of({1, 0, 1});
                         }),
              AllOf(HasSubstr("a.csv"), HasSubstr("changed")));
}

TEST(served_files, say_which_one_cannot_be_read) {
  const scratch_folder folder;
  const auto pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, folder.path(), folder.path() + "/none"}) {
    served_files served{[&] { return compute::data_files{{"train", path}}; }};
    EXPECT_THAT(refusal_of(errc::io, [&] { catalogue_of(served); }), HasSubstr(path));
  }
}

TEST(unreceived, bounds_what_a_peer_has_not_read) {
  unreceived peer;
  std::uint64_t drawn = 1;
  for (std::size_t k = 0; k < unreceived::most; ++k)
    EXPECT_TRUE(peer.admit(0, drawn++));
  EXPECT_FALSE(peer.admit(0, 1000));
  EXPECT_FALSE(peer.admit(999, 1000)) << "guessed";
  EXPECT_TRUE(peer.admit(5, 1000));
  EXPECT_FALSE(peer.admit(5, 1001)) << "shown before";
}

TEST(catalogue, is_refused_when_it_cannot_be) {
  const shared_file good{"train", 5, std::string(32, 'a'), std::string(32, 'b')};
  EXPECT_THAT(checked({{good}}), SizeIs(1));
  const auto expect_refused = [&](const file_catalogue& told, const std::string& why) {
    EXPECT_THAT(refusal_of(errc::bad_packet, [&] { checked(told); }), HasSubstr(why));
  };
  expect_refused({{good, good}}, "'train' is there twice");
  expect_refused({std::vector(1025, good)}, "there are 1025");
  auto bad = good;
  bad.bytes = most_file_bytes + 1;
  expect_refused({{bad}}, "allowed: up to 256 GiB");
  bad = good;
  bad.role = std::string(257, 'a');
  expect_refused({{bad}}, "257 bytes");
  bad = good;
  bad.root.pop_back();
  expect_refused({{bad}}, "32 bytes");
}

TEST(data_cache, keeps_files_under_the_names_of_their_content) {
  const scratch_folder folder;
  const data_cache cache{folder.path() + "/new/cache"};
  const auto whole = digest_of("abc");
  EXPECT_FALSE(cache.has(whole));
  {
    const auto partial = cache.open_partial(whole);
    partial->write(1, "bc");
    EXPECT_EQ(cache.open_partial(whole), nullptr) << "somebody is at it";
  }
  const auto partial = cache.open_partial(whole);
  EXPECT_EQ(partial->bytes(), 3u) << "what was written stays";
  partial->write(0, "a");
  EXPECT_EQ(partial->read(1, 10), "bc");
  partial->keep();
  EXPECT_TRUE(cache.has(whole));
  EXPECT_EQ(content_of(folder.path() + "/new/cache/" + whole.hex()), "abc");
  EXPECT_EQ(cache.open_partial(whole)->bytes(), 0u) << "a new one";
  cache.remove(whole);
  EXPECT_FALSE(cache.has(whole));
}

TEST(data_cache, says_in_one_sentence_that_it_cannot_be_written) {
  const scratch_folder folder;
  const auto file = folder.write("file", "");
  EXPECT_THAT(refusal_of(errc::io, [&] { data_cache{file + "/cache"}; }),
              AllOf(HasSubstr("cannot keep fetched data in " + file + "/cache"), HasSubstr("--data-cache DIR")));
  const data_cache cache{folder.path()};
  cache.require_room(1);
  EXPECT_THAT(refusal_of(errc::io, [&] { cache.require_room(std::uint64_t{1} << 62); }),
              AllOf(HasSubstr("has room for"), HasSubstr("make room there")));
}

TEST(data_cache, says_in_one_sentence_that_the_disk_is_full) {
  const partial_file full{open("/dev/full", O_WRONLY), "cache/abc.part", "cache/abc"};
  EXPECT_THAT(refusal_of(errc::io, [&] { full.write(0, "abc"); }),
              AllOf(HasSubstr("cannot write cache/abc.part in the cache of data: No space left on device"),
                    HasSubstr("make room there, or say where fetched data is kept: --data-cache DIR")));
}

TEST(prepare, reads_the_files_that_it_is_given_in_place_of_those_that_are_named) {
  const scratch_folder folder;
  run_settings s;
  s.data = "csv:train=nowhere/rows.csv";
  s.model = "softmax";
  s.batch = 1;
  s.workers = 2;
  s.files = {{"train", folder.write("abc", "1,2,0\n3,4,1\n5,6,0\n7,8,1\n9,9,0\n")}};
  EXPECT_EQ(prepare(s)->data.train.samples, 4u);
  s.initial = "nowhere/start.npz";
  EXPECT_THAT(refusal_of(errc::bad_data, [&] { prepare(s); }), HasSubstr("lack the initial model"));
  EXPECT_THAT(files_of(s), testing::ElementsAre(testing::Pair("initial model", "nowhere/start.npz"),
                                                testing::Pair("train", "nowhere/rows.csv")));
  s.initial.clear();
  s.model = "torchscript:file=nowhere/model.pt";
  EXPECT_THAT(refusal_of(errc::bad_data, [&] { prepare(s); }), HasSubstr("lack the model"));
  s.data_dir = "/here";
  EXPECT_THAT(files_of(s), testing::ElementsAre(testing::Pair("model", "/here/nowhere/model.pt"),
                                                testing::Pair("train", "/here/nowhere/rows.csv")));
  s.files.clear();
  EXPECT_THAT(refusal_of(errc::io, [&] { prepare(s); }), HasSubstr("nowhere/rows.csv"));
}

TEST_F(fetched_files, lie_in_the_cache_and_are_not_fetched_twice) {
  const auto files = get();
  EXPECT_EQ(files, (compute::data_files{{"test", in_cache(few_)}, {"train", in_cache(rows_)}}));
  EXPECT_EQ(content_of(files.at("train")), rows_);
  EXPECT_EQ(asked_, 1 + 1 + 41) << "a small file, a level of digests, and the pieces";
  EXPECT_THAT(said_, AllOf(HasSubstr("fetches 2 files of the data, 2.5 MiB"), HasSubstr("from 1 node in"),
                           HasSubstr("kept in")));
  EXPECT_EQ(get(), files);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator{cache_}, {}), 2) << "no partial file is left";
}

TEST_F(fetched_files, are_fetched_again_when_the_cache_is_damaged) {
  get();
  std::ofstream{in_cache(few_)} << "1,3\n";
  EXPECT_EQ(content_of(get().at("test")), few_);
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(said_, HasSubstr("test (4 bytes) in the cache is damaged, and is fetched again"));
}

TEST_F(fetched_files, go_on_with_what_an_attempt_before_has_got) {
  on_hear_ = [this] {
    if (asked_ > 30)
      throw error(errc::failed, "interrupted", "");
  };
  EXPECT_THROW(get(), error);
  on_hear_ = {};
  const auto first = asked_;
  EXPECT_EQ(content_of(get().at("train")), rows_);
  EXPECT_THAT(said_, HasSubstr("may be here from before"));
  EXPECT_LE(first + asked_, 2 * (1 + 1) + 41 + 16) << "a window was under way";
  EXPECT_GE(first, 30);
}

TEST_F(fetched_files, are_shared_with_others_who_fetch_the_same) {
  auto other = data_cache{cache_}.open_partial(digest_of(rows_));
  on_hear_ = [&] {
    if (now_ == 100ms) { // the other process has the file
      other->write(0, rows_);
      other->keep();
      other.reset();
    }
  };
  EXPECT_EQ(content_of(get().at("train")), rows_);
  EXPECT_EQ(asked_, 1) << "the small file";
  EXPECT_THAT(said_, HasSubstr("waits for another process of this machine, which fetches train"));
}

TEST_F(fetched_files, have_names_that_a_terminal_does_not_obey) {
  all_.files[0].role = "\x1b[2J";
  get();
  std::ofstream{in_cache(few_)} << "damaged";
  get();
  EXPECT_THAT(said_, AllOf(HasSubstr("\\x1b[2J (4 bytes) in the cache is damaged"), Not(HasSubstr("\x1b"))));
}

TEST_F(fetched_files, that_are_one_are_fetched_once) {
  theirs_["test"] = theirs_["train"];
  served_ = served_files{[this] { return theirs_; }};
  all_ = catalogue_of(served_);
  const auto files = get();
  EXPECT_EQ(files.at("test"), files.at("train"));
  EXPECT_EQ(content_of(files.at("test")), rows_);
}

TEST_F(fetched_files, are_fetched_alone_when_others_are_there) {
  const auto files = get();
  fs::remove(files.at("train"));
  EXPECT_EQ(content_of(get().at("train")), rows_);
  EXPECT_EQ(asked_, 42);
}

TEST_F(fetched_files, never_take_names_from_others) {
  all_.files[0].role = "../../../etc/passwd";
  const auto files = get();
  EXPECT_EQ(files.at("../../../etc/passwd"), in_cache(few_));
}

TEST_F(fetched_files, that_are_wrong_end_it_with_one_sentence) {
  instead_ = [](file_news& news) {
    if (auto* p = std::get_if<piece>(&news.what))
      p->bytes += 'x';
    return true;
  };
  EXPECT_THAT(refusal_of(errc::failed, [&] { get(); }),
              AllOf(HasSubstr("the data cannot be fetched: the leader has sent wrong bytes, as piece 0 of "),
                    HasSubstr("start the node again")));
  EXPECT_FALSE(fs::exists(in_cache(few_)));
  instead_ = {};
  all_.files[0].whole = std::string(32, 'a');
  EXPECT_THAT(refusal_of(errc::failed, [&] { get(); }),
              HasSubstr("test cannot be fetched: it is not what it was said to be"));
}

TEST_F(fetched_files, that_do_not_come_are_not_waited_for) {
  on_hear_ = [this] {
    now_ += 200ms;
    if (asked_ > 0)
      news_.clear();
  };
  EXPECT_THAT(refusal_of(errc::failed, [&] { get(); }), HasSubstr("has not answered for 10 s"));
}

} // namespace
} // namespace gossamer::actors
