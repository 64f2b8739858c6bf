// All orders of the messages of a checkpoint and of exchanges of which one worker has several open at a time.
#include "gossamer/actors/simulation/auditor.hpp"
#include "gossamer/actors/worker/cut.hpp"

#include <gmock/gmock.h>

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

/// A cut that knows of the newest exchange alone.
class forgetful_cut : public cut {
public:
  void begin(const exchange& e) {
    if (newest_)
      end(*newest_);
    cut::begin(*(newest_ = e));
  }

private:
  std::optional<exchange> newest_;
};

/// Worker 0 asks the others, and asks again when it has an answer, at most `in_flight` at a time. Peers answer at once.
template <class Cut>
class asking_world {
public:
  static constexpr std::size_t workers = 3;
  static constexpr std::uint64_t questions = 3, in_flight = 2;

  asking_world() : check_(workers, false, {}) {
    for (rank i = 0; i < workers; ++i)
      check_.begins(i, 0);
    ask();
  }

  /// Number of events that may come next.
  std::vector<std::function<void(asking_world&)>> events() const {
    std::vector<std::function<void(asking_world&)>> result;
    for (rank i = 0; i < workers; ++i) {
      if (!nodes_[i].ordered)
        result.push_back([i](asking_world& w) { w.order(i); });
      for (rank j = 0; j < workers; ++j)
        if (!ways_[i][j].empty())
          result.push_back([i, j](asking_world& w) { w.deliver(i, j); });
    }
    return result;
  }

  /// The first promise broken so far, or by the state at the end.
  std::optional<std::string> broken() const { return check_.broken(); }
  std::optional<std::string> broken_at_end() {
    check_.check_halves();
    for (const auto& one : nodes_)
      if (one.saved != 1)
        return "a worker has not saved its state";
    return asked_ == questions && open_ == 0 ? check_.broken() : "worker 0 has not asked everything";
  }

private:
  struct node {
    Cut place;
    std::uint64_t saved = 0;
    bool ordered = false;
  };

  void order(rank i) {
    nodes_[i].ordered = true;
    nodes_[i].place.order(1);
    pass(i);
  }

  void deliver(rank from, rank to) {
    auto f = ways_[from][to].front();
    ways_[from][to].pop_front();
    auto& place = nodes_[to].place;
    if (f.label.kind == frame_kind::checkpoint)
      place.marker(from, f.label.step);
    else if (!place.keeps(f))
      take(to, f);
    pass(to);
  }

  void take(rank i, const frame& f) {
    const auto number = f.label.step;
    if (f.label.kind == frame_kind::average_request) {
      check_.claims_opposite(i, {f.source, i, 0, 0, number}, vec{pool_, std::vector{-1.0f}});
      send(i, f.source, {frame_kind::average_reply, number});
      return;
    }
    nodes_[i].place.answered({f.source, number});
    check_.claims_opposite(i, {i, f.source, 0, 0, number, true}, vec{pool_, std::vector{1.0f}});
    nodes_[i].place.end({f.source, number});
    --open_;
    pass(i);
    ask();
  }

  void pass(rank i) {
    auto& [place, saved, ordered] = nodes_[i];
    if (!place.is_due())
      return;
    check_.saves(i, saved = place.due());
    for (rank j = 0; j < workers; ++j)
      if ((i == 0) != (j == 0)) // the neighbours on a star
        send(i, j, {frame_kind::checkpoint, saved});
    for (const auto& f : place.saved())
      take(i, f);
    if (i == 0)
      ask();
  }

  /// Worker 1 gets the first and the last question, worker 2 the other.
  void ask() {
    while (asked_ < questions && open_ < in_flight && !nodes_[0].place.is_ordered()) {
      const auto whom = static_cast<rank>(1 + asked_ % 2);
      nodes_[0].place.begin({whom, asked_});
      send(0, whom, {frame_kind::average_request, asked_++});
      ++open_;
    }
  }

  void send(rank from, rank to, tag label) { ways_[from][to].push_back({.source = from, .label = label}); }

  auditor check_;
  buffer_pool pool_;
  std::array<node, workers> nodes_;
  std::array<std::array<std::deque<frame>, workers>, workers> ways_;
  std::uint64_t asked_ = 0, open_ = 0;
};

struct search {
  std::uint64_t orders = 0;
  std::set<std::string> broken;
};

/// Follows all orders of events to their ends, or to a broken promise.
template <class Cut>
void follow(const asking_world<Cut>& world, search& found) {
  const auto next = world.events();
  for (const auto& event : next) {
    auto then = world;
    event(then);
    if (const auto why = then.broken())
      found.broken.insert(*why);
    else
      follow(then, found);
  }
  if (!next.empty())
    return;
  ++found.orders;
  auto end = world;
  if (const auto why = end.broken_at_end())
    found.broken.insert(*why);
}

TEST(open_exchanges, are_in_a_checkpoint_with_both_halves_or_none_in_every_order) {
  search found;
  follow(asking_world<cut>{}, found);
  EXPECT_THAT(found.broken, testing::IsEmpty());
  EXPECT_GT(found.orders, 10'000u);
}

TEST(open_exchanges, are_torn_by_a_cut_that_keeps_only_one) {
  search found;
  follow(asking_world<forgetful_cut>{}, found);
  EXPECT_THAT(found.broken, testing::Contains(HasSubstr("has one half of exchange 0 between 0 and 1 only")));
}

} // namespace
} // namespace gossamer::actors
