// Files that several members of a run have, without actors.
#include "fetched_files.hpp"

namespace gossamer::actors {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

/// A run of some members, of which one misbehaves.
class files_of_several : public fetched_files {
protected:
  void SetUp() override { names_ = {"the leader", "node b", "node c"}; }
  /// Fetches, and expects all files to be there.
  void expect_fetched() {
    const auto files = get();
    EXPECT_EQ(content_of(files.at("train")), rows_);
    EXPECT_EQ(content_of(files.at("test")), few_);
  }
  static constexpr int needed = 1 + 1 + 41, window = 16;
};

TEST_F(files_of_several, come_from_all_of_them) {
  expect_fetched();
  EXPECT_EQ(asked_, needed);
  for (const auto& [source, asked] : asked_of_)
    EXPECT_GT(asked, 5) << source;
  EXPECT_THAT(said_, HasSubstr("from 3 nodes in"));
}

TEST_F(files_of_several, come_from_four_of_many_and_not_always_from_the_same) {
  names_ = {"the leader", "b", "c", "d", "e", "f"};
  first_ = 10;
  expect_fetched();
  EXPECT_THAT(asked_of_, testing::ElementsAre(testing::Key(0), testing::Key(1), testing::Key(4), testing::Key(5)));
}

TEST_F(files_of_several, survive_the_loss_of_one_in_the_middle) {
  for (const std::uint32_t lost : {0u, 1u}) {
    SCOPED_TRACE(lost);
    fs::remove_all(cache_);
    instead_ = [&](file_news& news) {
      if (news.source == lost && asked_of_[lost] > 5)
        news.what = source_lost{"is lost"};
      return true;
    };
    expect_fetched();
    EXPECT_LE(asked_, needed + window) << "what had come is not fetched again";
    EXPECT_THAT(said_, HasSubstr(names_[lost] + " is lost\n"));
  }
}

TEST_F(files_of_several, survive_one_that_lies) {
  instead_ = [](file_news& news) {
    if (auto* p = news.source == 1 ? std::get_if<piece>(&news.what) : nullptr)
      p->bytes[0] ^= 1;
    return true;
  };
  expect_fetched();
  EXPECT_THAT(said_, AllOf(HasSubstr("node b has sent wrong bytes, as piece "), HasSubstr(" of train (2.5 MiB)")));
}

TEST_F(files_of_several, survive_one_that_says_nothing) {
  for (const bool also_of_what_there_is : {false, true}) {
    fs::remove_all(cache_);
    said_.clear();
    on_hear_ = [this] { now_ += 50ms; };
    instead_ = [&](const file_news& news) {
      return news.source != 0 || (!also_of_what_there_is && std::holds_alternative<file_catalogue>(news.what));
    };
    expect_fetched();
    EXPECT_EQ(said_.find("the leader has not answered for 10 s") == std::string::npos, also_of_what_there_is);
  }
}

TEST_F(files_of_several, are_described_by_another_one_when_the_leader_cannot) {
  instead_ = [](file_news& news) {
    if (news.source == 0)
      news.what = source_lost{"says: cannot hand on 'rows.csv'"};
    return true;
  };
  expect_fetched();
  EXPECT_THAT(said_, AllOf(HasSubstr("the leader says: cannot hand on 'rows.csv'"), HasSubstr("from 2 nodes in")));
  EXPECT_EQ(asked_of_.count(0), 0u);
}

TEST_F(files_of_several, come_from_those_that_have_them) {
  fs::remove_all(cache_);
  instead_ = [](file_news& news) {
    if (auto* told = std::get_if<file_catalogue>(&news.what)) {
      if (news.source == 1)
        told->files[0].root = std::string(32, 'a'); // as if packed differently
      if (news.source == 2)
        told->files.clear();
    } else if (auto* p = news.source == 1 ? std::get_if<piece>(&news.what) : nullptr) {
      EXPECT_EQ(p->what.file, 1u);
    }
    return true;
  };
  expect_fetched();
  EXPECT_GT(asked_of_[1], 5);
  EXPECT_EQ(asked_of_.count(2), 0u);
  EXPECT_THAT(said_, HasSubstr("node c has other files"));
}

TEST_F(files_of_several, may_have_other_numbers_there) {
  others_.emplace(1, [this] { return compute::data_files{{"train", theirs_.at("train")}}; });
  expect_fetched();
  EXPECT_GT(asked_of_[1], 5);
  EXPECT_THAT(said_, testing::Not(HasSubstr("node b")));
}

TEST_F(files_of_several, say_who_was_the_last_when_nobody_is_left) {
  instead_ = [&](file_news& news) {
    if (asked_ > 3 * window)
      news.what = source_lost{"is lost"};
    return asked_ < 30;
  };
  on_hear_ = [this] { now_ += 50ms; };
  EXPECT_THAT(refusal_of(errc::failed, [&] { get(); }),
              AllOf(HasSubstr("the data cannot be fetched: "), HasSubstr("has not answered for 10 s")));
  instead_ = {};
  const auto before = asked_;
  expect_fetched();
  EXPECT_LT(asked_, needed) << "after " << before;
}

} // namespace
} // namespace gossamer::actors
