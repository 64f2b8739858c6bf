#pragma once

#include "gossamer/actors/fetch/fetching.hpp"
#include "gossamer/actors/fetch/served_files.hpp"

#include <fstream>

#include "fetch_world.hpp"
#include "support/scratch_folder.hpp"

// Files that are fetched from simulated sources into a cache on the disk.
namespace gossamer::actors {

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Act>
std::string refusal_of(errc code, const Act& act) {
  try {
    act();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing is refused";
  return {};
}

inline const file_catalogue& catalogue_of(served_files& served) {
  const file_catalogue* all = nullptr;
  while (all == nullptr)
    all = served.look_on();
  return *all;
}

/// A node that fetches, and members of the run, of which the first leads. The members answer at once unless a test
/// changes that.
class fetched_files : public testing::Test {
protected:
  compute::data_files get() {
    const file_talk talk{.sources = names_,
                         .first = first_,
                         .ask_for_all =
                             [this](std::uint32_t source) {
                               say({source, others_.contains(source) ? catalogue_of(others_.at(source)) : all_});
                             },
                         .ask_for_piece =
                             [this](std::uint32_t source, const piece_request& m) {
                               ++asked_;
                               ++asked_of_[source];
                               say({source, piece{m.what, 1, serves(source).piece_of(m.what)}});
                             },
                         .hear = [this](std::chrono::nanoseconds) -> std::optional<file_news> {
                           now_ += std::chrono::milliseconds(1);
                           if (on_hear_)
                             on_hear_();
                           if (news_.empty())
                             return std::nullopt;
                           auto next = std::move(news_.front());
                           news_.erase(news_.begin());
                           return next;
                         },
                         .now = [this] { return now_; },
                         .tell = [this](const std::string& line) { said_ += line + "\n"; }};
    asked_ = 0;
    asked_of_.clear();
    news_.clear();
    return fetch_files({.cache = cache_}, {}, talk);
  }
  served_files& serves(std::uint32_t source) {
    const auto other = others_.find(source);
    return other == others_.end() ? served_ : other->second;
  }
  void say(file_news news) {
    if (!instead_ || instead_(news))
      news_.push_back(std::move(news));
  }
  std::filesystem::path in_cache(const std::string& content) const { return cache_ / digest_of(content).hex(); }

  test::scratch_folder folder_;
  std::filesystem::path cache_ = std::filesystem::path{folder_.path()} / "cache";
  std::string rows_ = random_bytes(40 * piece_bytes + 1, 3), few_ = "1,2\n";
  compute::data_files theirs_{{"test", folder_.write("x", few_)}, {"train", folder_.write("y", rows_)}};
  served_files served_{[this] { return theirs_; }};
  file_catalogue all_ = catalogue_of(served_);
  std::map<std::uint32_t, served_files> others_; // files of the sources that differ
  std::vector<file_news> news_;
  std::function<void()> on_hear_;
  std::function<bool(file_news&)> instead_; // changes a source's message; false: drops it
  std::vector<std::string> names_{"the leader"};
  std::size_t first_ = 0;
  std::string said_;
  int asked_ = 0; // number of questions for pieces
  std::map<std::uint32_t, int> asked_of_;
  fetch::time now_{0};
};

} // namespace gossamer::actors
