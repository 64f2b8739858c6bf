// The state of every algorithm is complete: a run that is saved at the beginning of a step, restored by other objects
// and resumed ends at the same result, to the bit.
#include <gtest/gtest.h>

#include "spellings.hpp"
#include "tiny_world.hpp"

namespace gossamer::actors {

namespace {

using testing_support::tiny_world;

constexpr std::uint64_t stop = 13, steps = 32;
constexpr std::size_t dimension = 40;
constexpr tensor_shape tensors[]{{4, 8}, {1, dimension - 32}};

class every_state : public testing::TestWithParam<std::string> {
protected:
  every_state() : entry_(algorithms().find(spec::parse(GetParam()).name)), given_("algorithm", entry_.about, text()) {}

  static spec text() { return spec::parse(GetParam()); }
  /// Returns a number of workers for which a run is a function of its seed alone: several with equal steps, or only
  /// one.
  std::size_t workers() const { return entry_.traits.synchronous ? 4 : 1; }
  std::size_t masters() const { return entry_.masters ? entry_.masters(given_) : 0; }

  tiny_world world(tiny_world::options o) {
    o.codec = entry_.traits.default_codec;
    o.optimiser = "nesterov:beta=0.8";
    o.workers = workers();
    o.masters = masters();
    o.synchronous = entry_.traits.synchronous;
    o.equal_steps = entry_.traits.equal_steps;
    o.steps = steps;
    o.lr = 0.05;
    o.updates_per_epoch = 5;
    return {o,
            [this](rank i) {
              const algorithm_setup setup{.given = given_,
                                          .initial = vec{pool_, dimension},
                                          .tensors = tensors,
                                          .master = i < workers() ? 0 : i - workers()};
              return i < workers() ? entry_.make(setup) : entry_.make_master(setup);
            },
            [this](rank i, std::uint64_t t, const vec& x) { return gradient(i, t, x); }};
  }

  /// Returns a noisy gradient of (1/2) |x - c_i|^2.
  vec gradient(rank i, std::uint64_t t, const vec& x) {
    vec g = x;
    random_sequence centre{{5, i, purpose::synthetic}, 0}, noise{{6, i, purpose::synthetic}, t};
    for (float& value : g.mutate())
      value += static_cast<float>(centre.normal() + 0.1 * noise.normal());
    return g;
  }

  buffer_pool pool_;
  const algorithm_entry& entry_;
  arguments given_;
};

TEST_P(every_state, goes_on_where_it_was_saved_bit_for_bit) {
  auto whole = world({.keep_states_at = stop});
  ASSERT_TRUE(whole.run());
  if (whole.kept_states().empty())
    GTEST_SKIP() << "its workers only do what the master tells them; that a master goes on is tested with the protocol";
  ASSERT_EQ(whole.kept_states().size(), workers() + masters());
  auto second_half = world({.saved = whole.kept_states(), .done = stop * workers()});
  ASSERT_TRUE(second_half.run());
  for (rank i = 0; i < workers() + masters(); ++i) {
    EXPECT_NE(whole.model(i), (vec{pool_, whole.model(i).size()})) << "nothing was learnt";
    EXPECT_EQ(whole.model(i), second_half.model(i)) << i;
    EXPECT_EQ(whole.worker(i).state(), second_half.worker(i).state()) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(registry, every_state, testing::ValuesIn(testing_support::every_spelling()),
                         [](const auto& named) { return testing_support::as_test_name(named.param); });

} // namespace

} // namespace gossamer::actors
