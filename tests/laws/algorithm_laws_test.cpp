// Laws that every algorithm of the registry must keep under any interleaving of its messages, and a rule of AD-PSGD.
#include "gossamer/testing/algorithm_laws.hpp"

#include <gmock/gmock.h>

#include <array>
#include <set>

#include "own_parts.hpp"
#include "support/usage_error.hpp"

namespace gossamer::actors {
namespace {

const auto names_before_main = algorithms().names();

TEST(names_of_algorithms, can_be_read_before_main) {
  EXPECT_THAT(names_before_main, testing::Each(testing::Not(testing::IsEmpty())));
}

INSTANTIATE_TEST_SUITE_P(registry, algorithm_law,
                         testing::ValuesIn(algorithm_cases({algorithms().begin(), algorithms().end()})), law_name);

// -- an algorithm of a program: masters that hold parts, a parameter without a default, and a codec of the program ----

/// The built-in codecs, and that of own_parts.hpp.
registry<compress::codec_entry> all_codecs() {
  static const auto entries = joined(compress::codecs(), std::span{&gossamer::own::codec, 1});
  return {"codec", entries};
}

algorithm_entry parted_servers(std::string name, bool to_the_bit) {
  auto result = algorithms().find("parameter-server-sgd");
  result.about.name = std::move(name);
  auto& shards = result.about.parameters.front();
  shards.fallback = {};
  shards.required = true;
  result.traits.default_codec = "powers-of-two";
  result.traits.promises.sgd_to_the_bit = to_the_bit;
  return result;
}

const std::array own_algorithms{parted_servers("own-servers", true), parted_servers("own-rounding-servers", false)};

INSTANTIATE_TEST_SUITE_P(own, algorithm_law,
                         testing::ValuesIn(algorithm_cases(own_algorithms, all_codecs(),
                                                           {"own-servers:shards=2", "own-rounding-servers:shards=3"})),
                         law_name);

TEST(cases_of_algorithms, give_every_parameter_that_has_no_default) {
  auto entry = algorithms().find("ad-psgd");
  entry.about.parameters = {
      {.key = "a", .kind = parameter::type::choice, .fallback = {}, .choices = {"x", "y"}, .required = true},
      {.key = "b", .kind = parameter::type::choice, .fallback = "x", .choices = {"x", "y"}}};
  EXPECT_THAT(testing_support::spellings_of(entry), testing::ElementsAre("ad-psgd:a=x", "ad-psgd:a=y"));
}

TEST(cases_of_algorithms, are_not_left_out_in_silence) {
  EXPECT_THAT(usage_error([] { algorithm_cases(own_algorithms); }), testing::HasSubstr("own-servers"));
  EXPECT_THAT(usage_error([] { algorithm_cases(own_algorithms, compress::codecs(), {"own-server:shards=2"}); }),
              testing::HasSubstr("own-server'"));
}

TEST(cases_of_algorithms, are_of_complete_entries) {
  auto entry = parted_servers("own-servers", true);
  entry.make_master = nullptr;
  EXPECT_THAT(usage_error([&] {
                algorithm_cases({&entry, 1}, all_codecs(), {"own-servers:shards=2"});
              }),
              testing::HasSubstr("algorithm 'own-servers' has no function `make_master`"));
}

/// Waits for a frame that nobody sends.
class hopeful final : public algorithm {
public:
  task<> run(worker& w) override {
    const tag label{first_own_kind, 3, 2};
    if (w.id() == 0)
      co_await w.receive(1, label);
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_); }

private:
  vec x_;
};

TEST(a_tiny_world, says_who_waits_for_what) {
  law_problem p{0};
  tiny_world world{{.workers = 3}, [](rank) { return std::make_unique<hopeful>(); }, p.gradients()};
  EXPECT_FALSE(world.run());
  EXPECT_EQ(world.who_waits(), "worker 0 waits for own 128, step 3, part 2 of worker 1\n");
}

/// Trains alone, and says nothing but what the first of them says.
class silent final : public algorithm {
public:
  explicit silent(vec initial) : x_(std::move(initial)) {}

  task<> run(worker& w) override {
    for (; co_await w.next_step(t_); ++t_) {
      const vec g = co_await w.start_gradient(x_, t_);
      w.update(x_, g, t_);
      if (w.id() == 0 && t_ == 0)
        w.send_to_neighbours({first_own_kind, t_}, w.encode(x_));
    }
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_)(t_); }

private:
  vec x_;
  std::uint64_t t_ = 0;
};

TEST(silent_workers, are_those_that_send_nothing) {
  law_problem p{0};
  tiny_world world{{.workers = 3}, [&](rank) { return std::make_unique<silent>(p.start()); }, p.gradients()};
  ASSERT_TRUE(world.run());
  EXPECT_EQ(silent_workers(world, 3), (std::vector<rank>{1, 2}));
}

/// Moves its model towards those that it hears of, the less the more they have been.
class weighing_gossip final : public algorithm {
public:
  weighing_gossip(vec initial, bool forgets) : x_(std::move(initial)), forgets_(forgets) {}

  task<> run(worker& w) override {
    w.serve(hear(w));
    return learn(w);
  }
  const vec& model() const override { return x_; }
  void fields(archive& a) override {
    a(x_)(t_);
    if (!forgets_)
      a(heard_);
  }

private:
  task<> learn(worker& w) {
    for (; co_await w.next_step(t_); ++t_) {
      auto gradient = w.start_gradient(x_, t_);
      const vec g = co_await gradient;
      w.update(x_, g, t_);
      w.send_to_neighbours({frame_kind::model, t_}, w.encode_exactly(x_));
    }
  }
  task<> hear(worker& w) {
    for (;;) {
      const auto news = co_await w.receive_any(frame_kind::model);
      x_ += 1 / static_cast<float>(2 + ++heard_) * (w.decode(news.body) - x_);
    }
  }

  vec x_;
  std::uint64_t t_ = 0, heard_ = 0;
  bool forgets_;
};

TEST(a_tiny_world_at_rest, shows_a_state_that_forgets_what_counts_in_exchanges_alone) {
  const auto ends_alike = [](std::size_t workers, bool forgets) {
    law_problem p{0.1f};
    const auto world_with = [&](tiny_world::options o) {
      o.workers = workers;
      o.synchronous = false;
      return tiny_world{o, [&](rank) { return std::make_unique<weighing_gossip>(p.start(), forgets); }, p.gradients()};
    };
    auto whole = world_with({.rest_at = 5});
    EXPECT_TRUE(whole.run());
    auto second_half = world_with({.saved = whole.kept_states(), .done = whole.updates_at_rest()});
    EXPECT_TRUE(second_half.run());
    return whole.model(0) == second_half.model(0);
  };
  EXPECT_TRUE(ends_alike(4, false));
  EXPECT_FALSE(ends_alike(4, true));
  EXPECT_TRUE(ends_alike(1, true)) << "one worker exchanges nothing";
}

TEST(rounding_noise, is_heard_of_every_codec_that_is_not_exact) {
  buffer_pool pool;
  const vec v{pool, std::vector<float>{3, -1, 0.5f, 0}};
  const auto noise_of = [&](const char* codec) {
    rounding_noise noise{all_codecs()};
    noise.hears({.source = 1,
                 .label = {frame_kind::model, 7},
                 .body = compress::make_codec(codec, {}, all_codecs())->encode(v, {1, 0, purpose::quantise}, 0)});
    noise.hears({.source = 1, .label = {frame_kind::request}, .body = {}});
    return noise.most_of_its_sum();
  };
  EXPECT_EQ(noise_of("identity"), 0);
  EXPECT_EQ(noise_of("top-k:k=1"), 9 * 3);
  EXPECT_GT(noise_of("powers-of-two"), 0) << "a codec of the program";
  EXPECT_LT(noise_of("uniform:bits=16"), 0.01);
}

TEST(cases_of_algorithms, have_numbers_of_parameters_that_some_algorithm_has) {
  std::set<std::string> keys;
  for (const auto& entry : algorithms())
    for (const auto& p : entry.about.parameters)
      keys.insert(p.key);
  for (const auto& [key, number] : testing_support::protocol_numbers)
    EXPECT_THAT(keys, testing::Contains(key));
}

// A rule of AD-PSGD: active workers ask passive ones only.
TEST(ad_psgd, exchanges_only_between_active_and_passive_workers) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  tiny_world world{{.topology = "exponential", .workers = 8, .synchronous = false, .steps = 50},
                   [&](rank) {
                     const arguments given{"algorithm", entry.about, {"ad-psgd", {}}};
                     return entry.make({.given = given, .initial = p.start()});
                   },
                   p.gradients()};
  ASSERT_TRUE(world.run());
  for (rank i = 0; i < 8; ++i)
    for (rank j = 0; j < 8; ++j) {
      if (world.worker(i).active() == world.worker(j).active()) {
        EXPECT_EQ(world.frames_from_to(i, j), 0u) << i << " to " << j;
      }
    }
}

TEST(ad_psgd, averages_at_most_once_for_each_gradient_of_an_active_worker) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  tiny_world world{
      {.topology = "ring", .workers = 2, .synchronous = false, .steps = 50},
      [&](rank) {
        const arguments given{"algorithm", entry.about, spec::parse("ad-psgd:averaging=per-active-gradient")};
        return entry.make({.given = given, .initial = p.start()});
      },
      p.gradients()};
  ASSERT_TRUE(world.run());
  const auto asked = world.sent(1).frames;
  const auto gradients = world.worker(1).gradients_done();
  EXPECT_LE(asked, gradients);
  EXPECT_GE(asked, gradients / 4); // gradients go on while an answer is under way
  EXPECT_EQ(world.sent(0).frames, asked);
}

TEST(ad_psgd, averages_at_most_once_for_each_gradient) {
  law_problem p{0.1f};
  const auto& entry = algorithms().find("ad-psgd");
  std::map<frame_kind, std::uint64_t> frames;
  tiny_world world{{.topology = "ring",
                    .workers = 2,
                    .synchronous = false,
                    .steps = 50,
                    .on_send = [&](rank, const frame& f) { ++frames[f.label.kind]; }},
                   [&](rank) {
                     const arguments given{"algorithm", entry.about, {"ad-psgd", {}}};
                     return entry.make({.given = given, .initial = p.start()});
                   },
                   p.gradients()};
  ASSERT_TRUE(world.run());
  const auto asked = frames[frame_kind::average_request];
  const auto gradients = world.worker(0).gradients_done() + world.worker(1).gradients_done();
  EXPECT_LE(asked, gradients);
  EXPECT_GT(asked, 0u); // the number depends on the delays of invitations
  EXPECT_EQ(frames[frame_kind::average_reply], asked);
}

} // namespace
} // namespace gossamer::actors
