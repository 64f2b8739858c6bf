// All orders of the messages of checkpoints and of exchanges of which one worker has several open at a time.
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

/// A cut that takes each marker for one of the cut that is due.
class numberless_cut : public cut {
public:
  void marker(rank from, std::uint64_t number) { cut::marker(from, std::max(number, due())); }
};

/// Worker 0 asks the others, and asks again when it has an answer, at most `in_flight` at a time. Peers answer at once.
/// The leader orders `cuts` one after the other, and at any time gives one up, of which the others then need not hear.
template <class Cut, std::size_t workers = 3, std::uint64_t questions = 3, std::uint64_t cuts = 1>
class asking_world {
public:
  static constexpr std::uint64_t in_flight = 2;

  asking_world() : check_(workers, false, {}) {
    for (rank i = 0; i < workers; ++i)
      check_.begins(i, 0);
    ask();
  }

  /// Number of events that may come next.
  std::vector<std::function<void(asking_world&)>> events() const {
    std::vector<std::function<void(asking_world&)>> result;
    for (rank i = 0; i < workers; ++i) {
      for (auto number = nodes_[i].ordered + 1; number <= cuts; ++number)
        result.push_back([i, number](asking_world& w) { w.order(i, number); });
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
      if (one.saved != cuts)
        return "a worker has not saved its state";
    return asked_ == questions && open_ == 0 ? check_.broken() : "worker 0 has not asked everything";
  }

private:
  struct node {
    Cut place;
    std::uint64_t saved = 0;
    std::uint64_t ordered = 0;
  };

  void order(rank i, std::uint64_t number) {
    nodes_[i].ordered = number;
    hear_of(number, i);
    pass(i);
  }

  void hear_of(std::uint64_t number, rank i) {
    for (const auto& f : nodes_[i].place.order(number))
      take(i, f);
  }

  void deliver(rank from, rank to) {
    auto f = ways_[from][to].front();
    ways_[from][to].pop_front();
    auto& place = nodes_[to].place;
    if (f.label.kind == frame_kind::checkpoint) {
      hear_of(f.label.step, to);
      place.marker(from, f.label.step);
    } else if (!place.keeps(f))
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
    if (++parts_[saved] == workers)
      check_.completes(saved);
    for (rank j = 0; j < workers; ++j)
      if ((i == 0) != (j == 0)) // the neighbours on a star
        send(i, j, {frame_kind::checkpoint, saved});
    for (const auto& f : place.saved())
      take(i, f);
    if (i == 0)
      ask();
  }

  /// The others get the questions in turn.
  void ask() {
    while (asked_ < questions && open_ < in_flight && !nodes_[0].place.is_ordered()) {
      const auto whom = static_cast<rank>(1 + asked_ % (workers - 1));
      nodes_[0].place.begin({whom, asked_});
      send(0, whom, {frame_kind::average_request, asked_++});
      ++open_;
    }
  }

  void send(rank from, rank to, tag label) { ways_[from][to].push_back({.source = from, .label = label}); }

  auditor check_;
  buffer_pool pool_;
  std::array<node, workers> nodes_;
  std::map<std::uint64_t, std::size_t> parts_; ///< of each checkpoint that are safe
  std::array<std::array<std::deque<frame>, workers>, workers> ways_;
  std::uint64_t asked_ = 0, open_ = 0;
};

/// The half of worker 0, which asks worker 1, or of worker 1.
exchange_half half_of(rank who, std::uint64_t number) { return {0, 1, 0, 0, number, who == 0}; }

/// An auditor of two workers that exchange.
struct audited_pair {
  audited_pair() {
    for (const rank i : {0u, 1u})
      check.begins(i, 0);
  }
  void does_half(rank who, std::uint64_t number) {
    check.claims_opposite(who, half_of(who, number), vec{pool, std::vector{who == 0 ? 1.0f : -1.0f}});
  }
  std::string broken() const { return check.broken().value_or("nothing is broken"); }

  buffer_pool pool;
  auditor check{2, false, {}};
};

TEST(auditor_of_checkpoints, notices_one_half_whichever_worker_saves_first) {
  for (const bool early : {false, true}) { // does worker 0 save before worker 1 does its half?
    audited_pair p;
    p.does_half(0, 1);
    if (early)
      p.check.saves(0, 3);
    p.check.saves(1, 3);
    p.does_half(1, 1);
    if (!early) {
      EXPECT_EQ(p.broken(), "nothing is broken") << "worker 0 need not save it";
      p.check.saves(0, 3);
    }
    EXPECT_EQ(p.broken(), "nothing is broken") << "it may be given up";
    p.check.completes(3);
    EXPECT_THAT(p.broken(), HasSubstr("checkpoint 3 has one half of exchange 1 between 0 and 1 only"));
  }
}

TEST(auditor_of_checkpoints, allows_halves_around_one_that_a_worker_leaves_out) {
  audited_pair p;
  p.check.saves(1, 1);
  p.does_half(1, 1);
  p.does_half(0, 1);
  p.check.saves(0, 2);
  p.check.saves(1, 2);
  EXPECT_EQ(p.broken(), "nothing is broken");
  p.does_half(0, 2);
  p.check.saves(1, 3);
  p.check.saves(1, 4);
  p.does_half(1, 2);
  p.check.saves(0, 4);
  p.check.completes(4);
  EXPECT_THAT(p.broken(), HasSubstr("checkpoint 4 has one half of exchange 2"));
}

TEST(auditor_of_checkpoints, notices_a_half_that_is_done_when_its_checkpoint_is_whole) {
  audited_pair p;
  p.does_half(0, 1);
  p.check.saves(0, 3);
  p.check.saves(1, 3);
  p.check.completes(3);
  EXPECT_EQ(p.broken(), "nothing is broken") << "worker 1 may be lost before";
  p.does_half(1, 1);
  EXPECT_THAT(p.broken(), HasSubstr("checkpoint 3 has one half of exchange 1"));
}

struct search {
  std::uint64_t orders = 0;
  std::set<std::string> broken;
};

/// Follows all orders of events to their ends, or to a broken promise.
template <class World>
void follow(const World& world, search& found) {
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

TEST(open_exchanges, are_in_none_of_two_checkpoints_by_half_whenever_the_first_is_given_up) {
  search found;
  follow(asking_world<cut, 2, 2, 2>{}, found);
  EXPECT_THAT(found.broken, testing::IsEmpty());
  EXPECT_GT(found.orders, 10'000u);
}

TEST(open_exchanges, are_torn_by_a_cut_that_takes_an_earlier_marker_for_one_of_its_own) {
  search found;
  follow(asking_world<numberless_cut, 2, 2, 2>{}, found);
  EXPECT_THAT(found.broken, testing::Contains(HasSubstr("checkpoint 2 has one half of exchange 0 between 0 and 1")));
}

TEST(open_exchanges, are_torn_by_a_cut_that_keeps_only_one) {
  search found;
  follow(asking_world<forgetful_cut>{}, found);
  EXPECT_THAT(found.broken, testing::Contains(HasSubstr("has one half of exchange 0 between 0 and 1 only")));
}

} // namespace
} // namespace gossamer::actors
