#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/compress/codec.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 5;
constexpr rank from = 0, to = 1;

struct fixture {
  explicit fixture(std::vector<fault> faults)
      : board(std::make_shared<fault_board>(fault_plan{std::move(faults)}, 2, 1, seed)),
        count(std::make_shared<fault_count>()),
        faulty(make_faulty_link(from, to, std::make_unique<inner_link>(*this),
                                std::make_shared<const faulty_surroundings>(faulty_surroundings{
                                    board, count, [this] { return now_s; },
                                    [this](std::chrono::nanoseconds delay, const std::function<void()>& what) {
                                      delay_ = delay;
                                      what();
                                      delay_ = {};
                                    },
                                    seed, pool}))) {
    for (std::size_t i = 0; i < board->plan().faults.size(); ++i)
      board->begin(i);
  }

  struct inner_link final : link {
    explicit inner_link(fixture& f) : owner(f) {}
    void send(frame f) override {
      owner.delays.push_back(owner.delay_);
      owner.arrived.push_back(std::move(f));
    }
    fixture& owner;
  };

  frame numbered(std::uint64_t step) {
    vec v{pool, 20};
    v.mutate()[step % 20] = static_cast<float>(step);
    return {.source = from,
            .sequence = static_cast<std::uint32_t>(step + 1),
            .label = {frame_kind::model, step},
            .body = compress::make_codec("identity")->encode(v, {1, 0, purpose::quantise}, step)};
  }
  void send(std::uint64_t frames) {
    for (std::uint64_t step = 0; step < frames; ++step)
      faulty->send(numbered(step));
  }
  bool is_undamaged(const frame& f) {
    const auto original = numbered(f.label.step);
    return std::ranges::equal(write(pool, f).bytes(), write(pool, original).bytes());
  }

  buffer_pool pool;
  double now_s = 0;
  std::vector<frame> arrived;
  std::vector<std::chrono::nanoseconds> delays;
  std::shared_ptr<fault_board> board;
  std::shared_ptr<fault_count> count;
  std::unique_ptr<link> faulty;

private:
  std::chrono::nanoseconds delay_{}; // delay of the present call of the inner link
};

TEST(faulty_link, passes_everything_on_while_nothing_is_wrong) {
  fixture f{{}};
  f.send(10);
  ASSERT_EQ(f.arrived.size(), 10u);
  for (std::uint64_t step = 0; step < 10; ++step) {
    EXPECT_EQ(f.arrived[step].label.step, step);
    EXPECT_TRUE(f.is_undamaged(f.arrived[step]));
    EXPECT_EQ(f.delays[step], 0s);
  }
}

TEST(faulty_link, loses_every_frame_until_the_fault_ends) {
  fixture f{{{.kind = fault_kind::drop}}};
  f.send(10);
  EXPECT_TRUE(f.arrived.empty());
  EXPECT_EQ(f.count->lost, 10u);
  f.board->end(0);
  f.send(1);
  EXPECT_EQ(f.arrived.size(), 1u);
}

TEST(faulty_link, loses_the_share_that_it_should) {
  constexpr std::uint64_t frames = 10'000;
  fixture f{{{.kind = fault_kind::drop, .rate = 0.2}}};
  f.send(frames);
  EXPECT_EQ(f.count->lost + f.arrived.size(), frames);
  EXPECT_NEAR(static_cast<double>(f.count->lost), 0.2 * frames, 4.5 * std::sqrt(frames * 0.2 * 0.8));
}

TEST(faulty_link, delivers_twice_what_is_duplicated) {
  fixture f{{{.kind = fault_kind::duplicate}}};
  f.send(10);
  ASSERT_EQ(f.arrived.size(), 20u);
  for (std::size_t k = 0; k < 20; ++k) {
    EXPECT_EQ(f.arrived[k].label.step, k / 2);
    EXPECT_TRUE(f.is_undamaged(f.arrived[k]));
  }
  EXPECT_EQ(f.count->duplicated, 10u);
}

TEST(faulty_link, never_delivers_a_damaged_frame) {
  constexpr std::uint64_t frames = 20'000;
  fixture f{{{.kind = fault_kind::corrupt}}};
  f.send(frames);
  for (const auto& survivor : f.arrived)
    ASSERT_TRUE(f.is_undamaged(survivor)) << survivor.label.step;
  EXPECT_EQ(f.arrived.size(), 0u) << "one to three bits are changed, so that each frame is damaged";
  EXPECT_EQ(f.count->rejected, frames);
  EXPECT_EQ(f.count->lost, 0u);
}

TEST(faulty_link, damages_frames_without_a_body_as_well) {
  fixture f{{{.kind = fault_kind::corrupt}}};
  for (std::uint64_t k = 0; k < 100; ++k)
    f.faulty->send({.source = from, .label = {frame_kind::acknowledgement, k}, .body = {}});
  EXPECT_TRUE(f.arrived.empty());
  EXPECT_EQ(f.count->rejected, 100u);
}

TEST(faulty_link, holds_frames_back_until_their_delay_is_over) {
  fixture f{{{.kind = fault_kind::delay, .seconds = 0.25}}};
  f.send(1);
  f.now_s = 1;
  f.send(1);
  EXPECT_THAT(f.delays, testing::ElementsAre(250ms, 250ms));
}

TEST(faulty_link, holds_frames_back_for_ever_where_delays_add_up_beyond_64_bits_of_nanoseconds) {
  fixture f{std::vector<fault>(10, {.kind = fault_kind::delay, .seconds = 1e9})};
  f.send(1);
  EXPECT_THAT(f.delays, testing::ElementsAre(std::chrono::nanoseconds{std::int64_t{1'000'000'000} * 1'000'000'000}));
}

TEST(faulty_link, sends_what_it_holds_back_even_when_it_is_gone) {
  struct counting_link final : link {
    explicit counting_link(int& s) : sent(s) {}
    void send(frame) override { ++sent; }
    int& sent;
  };
  int sent = 0;
  std::function<void()> held;
  const auto board =
      std::make_shared<fault_board>(fault_plan{{{.kind = fault_kind::delay, .seconds = 0.25}}}, 2, 1, seed);
  board->begin(0);
  auto faulty = make_faulty_link(
      from, to, std::make_unique<counting_link>(sent),
      std::make_shared<const faulty_surroundings>(faulty_surroundings{
          board, std::make_shared<fault_count>(), [] { return 0.0; },
          [&](std::chrono::nanoseconds, std::function<void()> what) { held = std::move(what); }, seed, buffer_pool{}}));
  faulty->send({.source = from, .label = {frame_kind::model}, .body = {}});
  faulty.reset();
  EXPECT_EQ(sent, 0);
  held();
  EXPECT_EQ(sent, 1);
}

TEST(faulty_link, suffers_several_faults_at_once) {
  fixture f{{{.kind = fault_kind::duplicate}, {.kind = fault_kind::delay, .seconds = 0.5}}};
  f.send(3);
  EXPECT_THAT(f.delays, testing::Each(500ms));
  EXPECT_EQ(f.arrived.size(), 6u);
  fixture g{{{.kind = fault_kind::duplicate}, {.kind = fault_kind::drop}}};
  g.send(3);
  EXPECT_TRUE(g.arrived.empty());
  EXPECT_EQ(g.count->duplicated, 0u);
}

std::vector<std::uint64_t> survivors() {
  fixture f{{{.kind = fault_kind::drop, .rate = 0.5}, {.kind = fault_kind::corrupt, .rate = 0.3}}};
  f.send(200);
  std::vector<std::uint64_t> steps;
  for (const auto& a : f.arrived)
    steps.push_back(a.label.step);
  return steps;
}

TEST(faulty_link, decides_alike_for_the_same_seed) {
  EXPECT_EQ(survivors(), survivors());
  EXPECT_GT(survivors().size(), 20u);
}

} // namespace
} // namespace gossamer::actors
