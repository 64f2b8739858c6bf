#pragma once

#include "gossamer/actors/fetch/fetch.hpp"
#include "gossamer/base/error.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

// A fetch among simulated sources, in virtual time.
namespace gossamer::actors {

inline std::string random_bytes(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 draw{seed};
  std::string result;
  while (result.size() < size) {
    const auto word = draw();
    result.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  result.resize(size);
  return result;
}

inline hashed_file hashed(const std::string& content) {
  hashed_file result;
  for (std::uint64_t at = 0; at < content.size(); at += piece_bytes)
    result.add(std::string_view{content}.substr(at, piece_bytes));
  result.finish();
  return result;
}

/// The conduct of a source.
struct source_plan {
  fetch::time answers_after{std::chrono::milliseconds(20)};
  double bytes_per_second = 1e7;
  fetch::time dies_at = fetch::time::max();   ///< breaks its connection then
  fetch::time mute_from = fetch::time::max(); ///< falls silent then, without a notice
  double wrong = 0;                           ///< share of its pieces that are wrong
  std::set<std::uint32_t> lacks = {};         ///< files that it does not have
};

class fetch_world {
public:
  fetch_world(std::vector<std::string> files, std::vector<source_plan> plans, fetch_settings settings = {},
              std::vector<std::string> on_disk = {}, std::uint64_t seed = 1)
      : files_(std::move(files)), plans_(std::move(plans)), settings_(settings), disk_(std::move(on_disk)),
        draw_(seed) {
    disk_.resize(files_.size());
    std::vector<wanted_file> wanted;
    for (std::size_t k = 0; k < files_.size(); ++k) {
      hashed_.push_back(hashed(files_[k]));
      wanted.push_back({files_[k].size(), hashed_[k].root(), disk_[k].size(), "file " + std::to_string(k)});
    }
    fetch_.emplace(std::move(wanted), settings, now);
    for (std::uint32_t k = 0; k < plans_.size(); ++k) {
      fetch_->came(k, now, plans_[k].lacks);
      if (plans_[k].dies_at < fetch::time::max())
        at(plans_[k].dies_at, [this, k] { fetch_->gone(k, now); });
    }
  }

  /// Runs until all files are there, every source is gone, or the time is over.
  void run(fetch::time until = std::chrono::hours(10)) {
    obey();
    while (!fetch_->done() && !fetch_->deserted() && fetch_->failure().empty() && now < until) {
      const auto next = events_.begin();
      if (next == events_.end() || next->first > fetch_->wakes_at()) {
        now = std::max(now, fetch_->wakes_at());
        fetch_->tick(now);
      } else {
        now = std::max(now, next->first);
        const auto happen = std::move(next->second);
        events_.erase(next);
        happen();
      }
      obey();
    }
  }

  void at(fetch::time when, std::function<void()> what) { events_.emplace(when, std::move(what)); }
  fetch& under_test() { return *fetch_; }
  void expect_all_there() const {
    EXPECT_TRUE(fetch_->done());
    EXPECT_TRUE(disk_ == files_) << "what was stored is not what was to be had";
    EXPECT_EQ(fetch_->progress().bytes, fetch_->progress().all);
  }

  std::ptrdiff_t pieces_asked_of(std::uint32_t source) const {
    return std::ranges::count(asked, source, [](const auto& one) { return one.second.source; });
  }

  fetch::time now{0};
  std::map<std::uint32_t, std::string> left;            ///< the reason for leaving each source
  std::vector<std::pair<fetch::time, ask_order>> asked; ///< all questions in their order
  std::uint64_t stored = 0;                             ///< number of stored pieces
  bool whole_is_right = true;

private:
  void obey() {
    for (auto orders = fetch_->take(); !orders.empty(); orders = fetch_->take())
      for (auto& order : orders)
        std::visit([this](auto& o) { obey(o); }, order);
  }
  void obey(const ask_order& o) {
    asked.emplace_back(now, o);
    EXPECT_EQ(left.count(o.source), 0u) << "source " << o.source << " is asked although it has been left";
    const auto& plan = plans_[o.source];
    EXPECT_FALSE(plan.lacks.contains(o.what.file)) << "source " << o.source << " has no file " << o.what.file;
    auto bytes = content_of(o.what);
    EXPECT_LE(++under_way_[o.source], settings_.window);
    const auto takes = std::chrono::nanoseconds{
        static_cast<std::int64_t>(1e9 * static_cast<double>(bytes.size()) / plan.bytes_per_second)};
    auto& free = free_at_[o.source];
    free = std::max(free, now + plan.answers_after) + takes;
    const auto when = free;
    if (when >= std::min(plan.dies_at, plan.mute_from))
      return;
    if (std::uniform_real_distribution<double>{}(draw_) < plan.wrong)
      spoil(bytes);
    at(when, [this, o, bytes] {
      --under_way_[o.source];
      fetch_->got(o.source, o.what, bytes, 7, now);
    });
  }
  void obey(const look_order& o) {
    const auto& there = disk_[o.what.file];
    const auto begin = std::min<std::uint64_t>(there.size(), o.what.index * piece_bytes);
    fetch_->found(o.what, std::string_view{there}.substr(begin, piece_bytes), now);
  }
  void obey(const store_order& o) {
    ++stored;
    auto& there = disk_[o.what.file];
    there.resize(std::max<std::size_t>(there.size(), o.what.index * piece_bytes + o.bytes.size()));
    there.replace(o.what.index * piece_bytes, o.bytes.size(), o.bytes);
  }
  void obey(const finish_order& o) { fetch_->finished(o.file, whole_is_right, now); }
  void obey(const leave_order& o) { EXPECT_TRUE(left.emplace(o.source, o.why).second); }

  std::string content_of(const piece_id& what) const {
    if (what.level > 0)
      return std::string{hashed_[what.file].piece(what.level, what.index)};
    return files_[what.file].substr(what.index * piece_bytes, piece_bytes);
  }
  void spoil(std::string& bytes) {
    if (bytes.empty() || draw_() % 3 == 0)
      bytes += 'x';
    else if (draw_() % 2 == 0)
      bytes.pop_back();
    else
      bytes[draw_() % bytes.size()] ^= 1;
  }

  std::vector<std::string> files_;
  std::vector<source_plan> plans_;
  fetch_settings settings_;
  std::vector<std::string> disk_;
  std::mt19937_64 draw_;
  std::vector<hashed_file> hashed_;
  std::optional<fetch> fetch_;
  std::multimap<fetch::time, std::function<void()>> events_;
  std::map<std::uint32_t, std::size_t> under_way_;
  std::map<std::uint32_t, fetch::time> free_at_; // end of each source's transmissions
};

} // namespace gossamer::actors
