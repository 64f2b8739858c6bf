// The mean of models on several nodes, with nodes lost at any moment and with nodes that send nonsense.
#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/evaluation/evaluations.hpp"
#include "gossamer/actors/evaluation/mean_gathering.hpp"
#include "gossamer/actors/node/rendezvous.hpp"
#include "gossamer/testing/effort.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>
#include <numeric>

#include "small_run.hpp"

namespace gossamer::actors {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t dimension = 3;

vec model_of(std::uint64_t evaluation, rank who) {
  buffer_pool pool;
  vec x{pool, dimension};
  random_sequence draw{{evaluation, who, purpose::data}, 0};
  for (auto& value : x.overwrite())
    value = static_cast<float>(draw.uniform());
  return x;
}

partial_mean mean_of(std::uint64_t evaluation, const std::vector<life>& lives) {
  std::vector<rank> ranks;
  for (const auto& one : lives)
    ranks.push_back(one.who);
  rank_tree<partial_mean> tree{ranks};
  for (const auto i : ranks)
    tree.add({0, i}, {model_of(evaluation, i)});
  return tree.parts().begin()->second;
}

/// Nodes without actors, and the leader's book of evaluations. Orders to one node keep their order, and so do frames of
/// one node to another. Everything else may overtake everything else.
class nodes_of_a_run {
public:
  nodes_of_a_run(std::size_t workers, std::vector<std::uint32_t> slots)
      : run_(small_run("d-psgd", "complete", workers)), ranks_(deal_ranks(workers, 0, slots)),
        members_(*run_, everybody_of(*run_)), book_(*run_) {
    homes_.resize(workers);
    for (std::uint32_t k = 0; k < ranks_.size(); ++k)
      for (const auto i : ranks_[k])
        homes_[i] = k;
    for (std::uint32_t k = 0; k < ranks_.size(); ++k)
      nodes_.push_back(std::make_unique<node>(k, homes_));
  }

  void put_aside(std::uint64_t evaluation) {
    for (rank i = 0; i < homes_.size(); ++i) {
      auto& home = *nodes_[homes_[i]];
      if (!home.up)
        continue;
      const snapshot s{
          .source = i, .evaluation = evaluation, .gradients = evaluation, .model = model_of(evaluation, i), .sent = {}};
      home.kept.keep(s);
      book_.add(without_model(s), members_);
    }
    for (rank i = 0; i < homes_.size(); ++i)
      if (!nodes_[homes_[i]]->up)
        book_.forget(i);
    book_.close_complete(ledger{homes_.size()}, members_, 0);
    ask();
  }

  /// Returns every event that can happen now.
  std::vector<std::function<void()>> possible() {
    std::vector<std::function<void()>> all;
    for (auto& n : nodes_)
      if (n->up && !n->orders.empty())
        all.emplace_back([this, &n = *n] { obey(n); });
    for (auto& [way, frames] : on_the_way_)
      if (!frames.empty() && nodes_[way.second]->up)
        all.emplace_back([this, &frames = frames, &to = *nodes_[way.second]] {
          const auto f = std::move(frames.front());
          frames.pop_front();
          ++to.heard;
          to.part.add(f);
          hand_on(to);
        });
    if (!answers_.empty())
      all.emplace_back([this] { hear(); });
    return all;
  }

  void kill(std::uint32_t k) {
    if (!std::exchange(nodes_[k]->up, false))
      return;
    for (auto& [way, frames] : on_the_way_)
      if (way.first == k)
        frames.resize(std::min<std::size_t>(frames.size(), 1)); // one frame may still come
    for (const auto i : ranks_[k]) {
      book_.forget(i);
      book_.lose(i);
    }
    book_.close_complete(ledger{homes_.size()}, members_, 0);
    ask();
  }

  void run_out(random_sequence draw = {{1, 0, purpose::chaos}, 0}) {
    for (auto next = possible(); !next.empty(); next = possible())
      next[draw.below(static_cast<std::uint32_t>(next.size()))]();
  }

  struct node {
    node(std::uint32_t k, const std::vector<std::uint32_t>& homes)
        : number(k), part({k, homes, dimension, {}}, [this](const frame& f, const std::string& why) {
            complaints.push_back(std::to_string(f.source) + ": " + why);
          }) {}

    std::uint32_t number;
    bool up = true;
    std::deque<mean_request> orders;
    kept_models kept;
    mean_gathering part;
    std::vector<std::string> complaints;
    std::size_t heard = 0; ///< number of frames
  };

  node& at(std::uint32_t k) { return *nodes_[k]; }
  const evaluations& book() const { return book_; }
  std::vector<life> living() const {
    std::vector<life> result;
    for (rank i = 0; i < homes_.size(); ++i)
      if (nodes_[homes_[i]]->up)
        result.push_back({i, 0});
    return result;
  }
  std::vector<std::size_t> sizes;          ///< bytes of each frame sent
  std::vector<std::uint64_t> done;         ///< numbers of the evaluations done
  std::vector<std::vector<life>> included; ///< the lives in each evaluation

private:
  void ask() {
    if (const auto* e = book_.begin()) {
      asked_ = *e;
      for (auto& n : nodes_)
        n->orders.push_back({e->request, e->number, 0, ranges_of(e->everybody)});
    }
  }

  void obey(node& n) {
    const auto m = std::move(n.orders.front());
    n.orders.pop_front();
    n.part.begin(n.kept.take(m.number, m.evaluation, m.root, lives_in(m.lives, homes_.size())));
    hand_on(n);
  }

  void hand_on(node& n) {
    const auto parts = n.part.take();
    if (!parts)
      return;
    if (n.number == 0) {
      ASSERT_EQ(parts->size(), 1u);
      answers_.emplace_back(n.part.number(), parts->begin()->second);
    } else {
      auto f = to_frame(*parts, n.part.number(), evaluating_life(homes_.size(), n.number), {});
      sizes.push_back(f.body.payload.size());
      on_the_way_[{n.number, n.part.above()}].push_back(std::move(f));
    }
  }

  void hear() {
    const auto [request, mean] = std::move(answers_.front());
    answers_.pop_front();
    if (!book_.finish(request))
      return;
    const auto expected = mean_of(asked_.number, asked_.everybody);
    EXPECT_EQ(mean.models, asked_.everybody.size());
    EXPECT_EQ(mean.mean, expected.mean);
    EXPECT_EQ(mean.spread, expected.spread);
    done.push_back(asked_.number);
    included.push_back(asked_.everybody);
    ask();
  }

  std::shared_ptr<const experiment> run_;
  std::vector<std::vector<rank>> ranks_;
  std::vector<std::uint32_t> homes_;
  membership members_;
  evaluations book_;
  evaluation asked_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<frame>> on_the_way_;
  std::deque<std::pair<std::uint64_t, partial_mean>> answers_; // partial means that node 0 has found
};

void expect_a_tree(std::set<std::uint32_t> nodes, std::uint32_t root) {
  const node_tree tree{nodes, root};
  nodes.insert(root);
  std::size_t children = 0;
  for (const auto k : nodes) {
    children += tree.children(k).size();
    for (const auto child : tree.children(k))
      ASSERT_EQ(tree.above(child), k);
    std::set<std::uint32_t> path{k, root};
    for (auto up = k; up != root; up = tree.above(up)) {
      ASSERT_TRUE(nodes.contains(up));
      path.insert(up);
    }
    for (const auto other : nodes)
      ASSERT_EQ(tree.is_within(k, other), path.contains(other));
  }
  ASSERT_EQ(children, nodes.size() - 1);
}

TEST(node_tree, leads_everybody_to_the_root_over_nodes_that_are_there) {
  for (std::uint32_t there = 0; there < 1u << 10; ++there) {
    std::set<std::uint32_t> nodes;
    for (std::uint32_t k = 0; k < 10; ++k)
      if ((there >> k & 1) != 0)
        nodes.insert(k);
    for (const auto root : {0u, 1u, 6u, 9u})
      ASSERT_NO_FATAL_FAILURE(expect_a_tree(nodes, root)) << there << ", root " << root;
  }
}

TEST(node_tree, is_neither_wide_nor_deep) {
  std::set<std::uint32_t> nodes;
  for (std::uint32_t k = 0; k < 1000; ++k)
    nodes.insert(k);
  const node_tree tree{nodes};
  for (const auto k : nodes) {
    EXPECT_LE(tree.children(k).size(), 10u);
    std::size_t depth = 0;
    for (auto up = k; up != 0; up = tree.above(up))
      ++depth;
    EXPECT_LE(depth, 10u);
  }
}

TEST(mean_gathering, brings_one_model_of_each_child_to_the_root_where_nodes_are_equal) {
  for (const std::uint64_t depth : {3u, 4u}) {
    const std::uint64_t nodes = 1u << depth;
    nodes_of_a_run world{16, std::vector<std::uint32_t>(nodes, 1)};
    for (std::uint64_t evaluation = 1; evaluation <= 3; ++evaluation) {
      world.put_aside(evaluation);
      world.run_out();
      EXPECT_EQ(world.at(0).heard, depth * evaluation) << "not one of each worker";
    }
    EXPECT_THAT(world.done, ElementsAre(1, 2, 3));
    EXPECT_EQ(world.sizes.size(), 3 * (nodes - 1)) << "each node sends once";
    EXPECT_THAT(world.sizes, testing::Each(8 + 8 + 4 * dimension)) << "one model";
  }
}

TEST(mean_gathering, sends_few_models_where_nodes_are_not_equal) {
  nodes_of_a_run world{23, {1, 3, 2, 4, 1, 1, 3, 1, 4, 1, 1, 1}};
  world.put_aside(1);
  world.run_out();
  EXPECT_THAT(world.done, ElementsAre(1));
  EXPECT_EQ(world.sizes.size(), 11u);
  for (const auto bytes : world.sizes)
    EXPECT_LE(bytes / (8 + 8 + 4 * dimension), 2 * std::log2(23));
}

/// Runs three evaluations, with deaths at any moment.
TEST(mean_gathering, ends_in_every_order_with_all_models_that_survive) {
  for (std::uint64_t seed = 1; seed <= test::tries(3000); ++seed) {
    SCOPED_TRACE(seed);
    random_sequence draw{{seed, 0, purpose::chaos}, 0};
    std::vector<std::uint32_t> slots(1 + draw.below(9));
    for (auto& s : slots)
      s = 1 + draw.below(3);
    const auto nodes = static_cast<std::uint32_t>(slots.size());
    nodes_of_a_run world{nodes + draw.below(12), slots};
    std::uint32_t deaths = draw.below(5);
    for (std::uint64_t evaluation = 1; evaluation <= 3; ++evaluation) {
      world.put_aside(evaluation);
      for (auto next = world.possible(); !next.empty(); next = world.possible()) {
        if (nodes > 1 && deaths > 0 && draw.below(10) == 0) {
          --deaths;
          world.kill(1 + draw.below(nodes - 1));
        } else {
          next[draw.below(static_cast<std::uint32_t>(next.size()))]();
          if (evaluation < 3 && draw.below(20) == 0)
            break; // the next evaluation begins before this one is done
        }
      }
    }
    ASSERT_TRUE(world.book().done()) << "somebody waits for ever";
    for (std::uint32_t k = 0; k < nodes; ++k)
      ASSERT_THAT(world.at(k).complaints, IsEmpty());
    const bool ends_well = !world.done.empty() && world.done.back() == 3;
    ASSERT_THAT(ends_well ? world.included.back() : std::vector<life>{}, testing::IsSupersetOf(world.living()));
  }
}

class a_node_that_is_sent_nonsense : public testing::Test {
protected:
  /// Node 0 of nodes 0 to 3 with two workers each. Nodes 1 and 2 are its children, and 3 is below 2.
  a_node_that_is_sent_nonsense() { here_.begin(job(7)); }

  static mean_job job(std::uint64_t number) {
    return {.number = number,
            .evaluation = 5,
            .everybody = {0, 1, 2, 3, 4, 5, 6, 7},
            .models = {{0, model_of(5, 0)}, {1, model_of(5, 1)}}};
  }
  static frame from(std::uint32_t node, std::uint64_t number, std::vector<rank> of, std::size_t size = dimension) {
    rank_tree<partial_mean> tree{job(1).everybody};
    for (const auto i : of) {
      partial_mean one{model_of(5, i)};
      one.mean = vec{pool_, one.mean.view().first(size)};
      tree.add({0, i}, one);
    }
    return to_frame(tree.parts(), number, evaluating_life(8, node), {});
  }
  std::string complaint_about(const frame& f) {
    complaint_.clear();
    here_.add(f);
    EXPECT_FALSE(here_.take());
    return complaint_;
  }

  static inline buffer_pool pool_;
  std::string complaint_;
  mean_gathering here_{{0, {0, 0, 1, 1, 2, 2, 3, 3}, dimension, {}}, [this](const frame& f, const std::string& why) {
                         complaint_ = std::to_string(f.source) + ": " + why;
                       }};
};

TEST_F(a_node_that_is_sent_nonsense, complains_of_its_sender_and_goes_on_without_it) {
  EXPECT_THAT(complaint_about(from(3, 7, {6, 7})), HasSubstr("11: its part of an evaluation is not awaited"));
  EXPECT_THAT(complaint_about(from(0, 7, {0, 1})), HasSubstr("8: it is no part of an evaluation"));
  EXPECT_THAT(complaint_about({.source = 3, .label = {frame_kind::model, 7}, .body = {}}), HasSubstr("3: "));
  EXPECT_THAT(complaint_about(from(1, 7, {2})), "") << "what is there has the right length";
  EXPECT_THAT(complaint_about(from(1, 7, {2, 3})), HasSubstr("not awaited")) << "it has sent already";
  EXPECT_THAT(complaint_about(from(2, 7, {})), HasSubstr("10: "));
  EXPECT_THAT(complaint_about(from(2, 7, {4, 5, 6})), HasSubstr("left over"));
  EXPECT_THAT(complaint_about(from(2, 7, {4, 5, 6, 7}, dimension - 1)), HasSubstr("the model 3 elements"));
  partial_mean odd{model_of(5, 4), 4, -1.0};
  EXPECT_THAT(complaint_about(to_frame({{{2, 1}, odd}}, 7, evaluating_life(8, 2), {})), HasSubstr("spread of -1"));

  auto again = job(8);
  again.everybody = {0, 1, 2, 3};
  again.models.clear();
  here_.begin(again);
  EXPECT_EQ(complaint_about(from(2, 7, {4, 5, 6, 7})), "") << "it is late";
  here_.add(from(1, 8, {2, 3}));
  const auto all = here_.take();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->begin()->second.models, 4u);
  EXPECT_EQ(all->begin()->second.mean, mean_of(5, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}).mean);
}

TEST_F(a_node_that_is_sent_nonsense, refuses_a_frame_that_is_cut_anywhere) {
  const auto good = from(2, 7, {4, 5, 6, 7});
  const auto bytes = good.body.payload.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto cut = good;
    cut.body = compress::opaque(bytes.first(size), {});
    EXPECT_NE(complaint_about(cut), "") << size;
  }
  EXPECT_EQ(complaint_about(good), "");
}

TEST_F(a_node_that_is_sent_nonsense, believes_that_models_have_diverged) {
  const partial_mean diverged{vec{pool_, std::vector<float>(dimension, NAN)}, 4, NAN};
  EXPECT_EQ(complaint_about(to_frame({{{2, 1}, diverged}}, 7, evaluating_life(8, 2), {})), "");
  here_.add(from(1, 7, {2, 3}));
  EXPECT_TRUE(std::isnan(here_.take()->begin()->second.distance()));
}

TEST_F(a_node_that_is_sent_nonsense, keeps_one_early_frame_of_each_node) {
  for (const std::uint64_t number : {9u, 10u, 8u})
    EXPECT_EQ(complaint_about(from(1, number, {2, 3})), "");
  EXPECT_EQ(complaint_about(from(2, 10, {4, 5, 6, 7})), "");
  here_.begin(job(10));
  EXPECT_EQ(here_.take()->begin()->second.models, 8u);
}

TEST_F(a_node_that_is_sent_nonsense, says_so_when_it_is_asked_for_what_it_does_not_have) {
  auto other = job(8);
  other.evaluation = 6;
  other.models.pop_back();
  EXPECT_THROW(here_.begin(other), error);
}

} // namespace
} // namespace gossamer::actors
