#include "gossamer/base/philox.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <vector>

namespace gossamer::compute {
namespace {

constexpr float lr = 0.1f;

/// Returns some more coordinates than whole registers, all different.
vec example(buffer_pool& pool, float slope, std::size_t size = 35) {
  vec v{pool, size};
  auto values = v.mutate();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = slope * (static_cast<float>(i % 7) - 3) + 0.01f * static_cast<float>(i);
  return v;
}

/// A step of one coordinate, in double precision.
using scalar_step = std::function<void(double& x, double g)>;

std::map<std::string, std::function<scalar_step()>> recursions() {
  constexpr double rate = 0.1, decay = 0.01;
  return {
      {"sgd", [] { return [](double& x, double g) { x -= rate * g; }; }},
      {"sgd:weight-decay=0.01", [] { return [](double& x, double g) { x -= rate * (g + decay * x); }; }},
      {"momentum:beta=0.8",
       [] {
         return [m = 0.0](double& x, double g) mutable {
           m = 0.8 * m + g;
           x -= rate * m;
         };
       }},
      {"momentum:beta=0.8,weight-decay=0.01",
       [] {
         return [m = 0.0](double& x, double g) mutable {
           m = 0.8 * m + (g + decay * x);
           x -= rate * m;
         };
       }},
      {"nesterov:beta=0.8,weight-decay=0.01",
       [] {
         return [m = 0.0](double& x, double g) mutable {
           g += decay * x;
           m = 0.8 * m + g;
           x -= rate * (0.8 * m + g);
         };
       }},
      {"adam:beta1=0.7,beta2=0.95,epsilon=1e-3,weight-decay=0.01",
       [] {
         return [m = 0.0, v = 0.0, t = 0](double& x, double g) mutable {
           ++t;
           g += decay * x;
           m = 0.7 * m + 0.3 * g;
           v = 0.95 * v + 0.05 * g * g;
           const double mean = m / (1 - std::pow(0.7, t)), square = v / (1 - std::pow(0.95, t));
           x -= rate * mean / (std::sqrt(square) + 1e-3);
         };
       }},
      {"adamw:beta1=0.7,beta2=0.95,epsilon=1e-3,weight-decay=0.3",
       [] {
         return [m = 0.0, v = 0.0, t = 0](double& x, double g) mutable {
           ++t;
           m = 0.7 * m + 0.3 * g;
           v = 0.95 * v + 0.05 * g * g;
           const double mean = m / (1 - std::pow(0.7, t)), square = v / (1 - std::pow(0.95, t));
           x -= rate * (mean / (std::sqrt(square) + 1e-3) + 0.3 * x);
         };
       }},
  };
}

TEST(optimiser, follows_its_recursion_coordinate_by_coordinate) {
  buffer_pool pool;
  for (const auto& [name, recursion] : recursions()) {
    vec x = example(pool, 0.5f);
    std::vector<double> expected(x.view().begin(), x.view().end());
    std::vector<scalar_step> steps;
    for (std::size_t i = 0; i < expected.size(); ++i)
      steps.push_back(recursion());
    const auto optimiser = make_optimiser(name);
    for (int t = 0; t < 20; ++t) {
      const vec g = example(pool, 0.3f * static_cast<float>(t % 5) - 0.4f);
      optimiser->step(x, g, lr);
      for (std::size_t i = 0; i < expected.size(); ++i)
        steps[i](expected[i], static_cast<double>(g[i]));
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(static_cast<double>(x[i]), expected[i], 2e-5 * (1 + std::fabs(expected[i]))) << name << " at " << i;
  }
}

TEST(optimiser, plain_sgd_is_the_vec_operator_bit_for_bit) {
  buffer_pool pool;
  vec x = example(pool, 0.7f), expected = x;
  const vec g = example(pool, -0.3f);
  const auto optimiser = make_optimiser("sgd");
  for (int t = 0; t < 10; ++t) {
    optimiser->step(x, g, lr);
    expected -= lr * g;
  }
  EXPECT_EQ(x, expected);
}

TEST(optimiser, momentum_of_zero_is_sgd_bit_for_bit) {
  buffer_pool pool;
  const vec g = example(pool, -0.3f);
  for (const char* name : {"momentum:beta=0", "nesterov:beta=0"}) {
    vec x = example(pool, 0.7f), expected = x;
    const auto optimiser = make_optimiser(name), sgd = make_optimiser("sgd");
    for (int t = 0; t < 10; ++t) {
      optimiser->step(x, g, lr);
      sgd->step(expected, g, lr);
    }
    EXPECT_EQ(x, expected) << name;
  }
}

TEST(optimiser, direction_is_what_a_step_subtracts_bit_for_bit) {
  buffer_pool pool;
  for (const auto& [name, recursion] : recursions()) {
    vec x = example(pool, 0.7f), expected = x;
    const auto optimiser = make_optimiser(name), other = make_optimiser(name);
    for (int t = 0; t < 5; ++t) {
      const vec g = example(pool, 0.3f * static_cast<float>(t) - 0.4f);
      other->step(expected, g, lr);
      x -= lr * optimiser->direction(x, g);
      EXPECT_EQ(x, expected) << name;
    }
  }
}

TEST(optimiser, decays_the_weights_of_the_point_that_it_is_told) {
  buffer_pool pool;
  for (const char* text :
       {"sgd:weight-decay=0.5", "momentum:weight-decay=0.5", "nesterov:weight-decay=0.5", "adam:weight-decay=0.5"}) {
    const auto spec = std::string{text};
    const auto decaying = make_optimiser(spec), plain = make_optimiser(spec.substr(0, spec.find(':')));
    vec x{pool, std::vector{3.0f}}, y = x;
    for (int t = 0; t < 5; ++t) {
      const vec at{pool, std::vector{1.0f + 0.25f * static_cast<float>(t)}}, g{pool, std::vector{0.5f}};
      decaying->step_at(at, x, g, 0.125f);
      plain->step(y, g + 0.5f * at, 0.125f);
      EXPECT_FLOAT_EQ(x[0], y[0]) << text;
    }
    const auto again = make_optimiser(spec);
    vec z{pool, std::vector{3.0f}}, same = z;
    again->step(z, y, 0.125f);
    make_optimiser(spec)->step_at(same, same, y, 0.125f);
    EXPECT_EQ(same, z) << text;
  }
}

TEST(optimiser, takes_the_decoupled_decay_from_the_point_that_it_is_told) {
  buffer_pool pool;
  const auto decaying = make_optimiser("adamw:weight-decay=0.5"), plain = make_optimiser("adamw:weight-decay=0");
  vec x{pool, std::vector{3.0f}}, y = x;
  for (int t = 0; t < 5; ++t) {
    const vec at{pool, std::vector{1.0f + 0.25f * static_cast<float>(t)}}, g{pool, std::vector{0.5f}};
    decaying->step_at(at, x, g, 0.125f);
    plain->step(y, g, 0.125f);
    y -= 0.0625f * at;
    EXPECT_NEAR(x[0], y[0], 1e-6f);
  }
}

TEST(optimiser, clips_gradients_that_are_longer_than_allowed) {
  buffer_pool pool;
  const vec g{pool, std::vector{3.0f, -4.0f}}, cut{pool, std::vector{0.6f, -0.8f}};
  const auto step_by = [&](const char* text, const vec& gradient) {
    vec x{pool, std::vector{1.0f, 2.0f}};
    make_optimiser(text)->step(x, gradient, lr);
    return x;
  };
  // with an epsilon of 1 the length of a gradient shows in the step
  EXPECT_EQ(step_by("adamw:epsilon=1,clip=1", g), step_by("adamw:epsilon=1", cut));
  EXPECT_EQ(step_by("adamw:epsilon=1,clip=5", g), step_by("adamw:epsilon=1", g)) << "it is as long as allowed";
  EXPECT_FALSE(step_by("adamw:epsilon=1,clip=1", g) == step_by("adamw:epsilon=1", g));
}

// A coordinate must not depend on whether it sits in a whole register or behind the last one.
TEST(optimiser, treats_every_place_alike) {
  buffer_pool pool;
  for (const auto& [name, recursion] : recursions())
    for (std::size_t size : {0u, 1u, 15u, 16u, 17u, 33u}) {
      std::vector<float> start(size, 0.3f), slope(size, -1.7f);
      vec x{pool, start};
      const vec g{pool, slope};
      const auto optimiser = make_optimiser(name);
      for (int t = 0; t < 5; ++t)
        optimiser->step(x, g, lr);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(x[i], x[0]) << name << " size " << size;
    }
}

TEST(optimiser, clones_carry_the_state_and_go_their_own_way) {
  buffer_pool pool;
  for (const auto& entry : optimisers()) {
    const auto original = make_optimiser(entry.about.name), control = make_optimiser(entry.about.name);
    vec x = example(pool, 1), y = x;
    original->step(x, example(pool, 0.2f), lr);
    control->step(y, example(pool, 0.2f), lr);
    const auto clone = original->clone();
    vec z = x;
    for (int t = 0; t < 3; ++t)
      clone->step(z, example(pool, -5), lr);
    original->step(x, example(pool, 0.4f), lr);
    control->step(y, example(pool, 0.4f), lr);
    EXPECT_EQ(x, y) << entry.about.name;
    EXPECT_FALSE(x == z) << entry.about.name;
  }
}

TEST(optimiser, goes_on_from_a_saved_state_bit_for_bit) {
  buffer_pool pool;
  for (const auto& entry : optimisers()) {
    const auto first = make_optimiser(entry.about.name), second = make_optimiser(entry.about.name);
    vec x = example(pool, 1);
    const vec g = example(pool, 0.2f);
    for (int t = 0; t < 3; ++t)
      first->step(x, g, lr);
    archive_writer saved;
    first->fields(saved);
    archive_reader restored{saved.bytes(), pool};
    second->fields(restored);
    EXPECT_NO_THROW(restored.finish());
    vec y = x;
    first->step(x, g, lr);
    second->step(y, g, lr);
    EXPECT_EQ(x, y) << entry.about.name;
  }
}

TEST(optimiser, allocates_nothing_after_the_first_step) {
  buffer_pool pool;
  for (const auto& entry : optimisers()) {
    const auto optimiser = make_optimiser(entry.about.name);
    vec x = example(pool, 1, 1000);
    const vec g = example(pool, 0.2f, 1000);
    const auto step = [&] {
      const vec sent = x; // a snapshot is on its way while the model moves on
      optimiser->step(x, g, lr);
    };
    step();
    const auto warm = pool.blocks_created();
    for (int t = 0; t < 50; ++t)
      step();
    EXPECT_EQ(pool.blocks_created(), warm) << entry.about.name;
  }
}

TEST(optimiser, leaves_a_shared_snapshot_alone) {
  buffer_pool pool;
  for (const auto& entry : optimisers()) {
    vec x = example(pool, 1);
    const vec snapshot = x, expected = example(pool, 1);
    make_optimiser(entry.about.name)->step(x, example(pool, 0.2f), lr);
    EXPECT_EQ(snapshot, expected) << entry.about.name;
  }
}

TEST(optimiser, passes_on_what_is_not_finite) {
  buffer_pool pool;
  for (const auto& entry : optimisers()) {
    vec x = example(pool, 1), g = example(pool, 0.2f);
    g.mutate()[3] = std::nanf("");
    make_optimiser(entry.about.name)->step(x, g, lr);
    EXPECT_TRUE(std::isnan(x[3])) << entry.about.name;
    EXPECT_FALSE(std::isnan(x[4])) << entry.about.name;
  }
}

TEST(optimiser, leads_as_much_further_as_its_persistence_says) {
  constexpr std::size_t size = 1000, steps = 2000;
  buffer_pool pool;
  for (const char* name : {"sgd", "momentum:beta=0.9", "momentum:beta=0.5", "nesterov:beta=0.9", "nesterov:beta=0.3",
                           "adam", "adam:beta1=0.5"}) {
    const auto o = make_optimiser(name);
    vec x{pool, size}, sum{pool, size}, g{pool, size};
    double squares = 0;
    for (std::size_t t = 0; t < steps; ++t) {
      random_sequence draw{{3, 0, purpose::synthetic}, t};
      for (auto& value : g.mutate())
        value = static_cast<float>(draw.normal());
      const vec u = o->direction(x, g);
      sum += u;
      squares += sum_of_squares(u.view());
    }
    EXPECT_NEAR(std::sqrt(sum_of_squares(sum.view()) / squares) / o->persistence(), 1, 0.1) << name;
  }
}

TEST(suggested_lr, makes_the_steps_of_momentum_as_long_as_plain_ones) {
  EXPECT_EQ(suggested_lr("sgd"), 0.1);
  for (const std::string name : {"momentum", "nesterov"}) {
    EXPECT_EQ(suggested_lr(name), 0.01) << "the default is beta=0.9";
    EXPECT_EQ(suggested_lr(name + ":beta=0.5"), 0.05);
    EXPECT_EQ(suggested_lr(name + ":beta=0"), suggested_lr("sgd"));
    EXPECT_GT(suggested_lr(name + ":beta=0.999999"), 0);
  }
  EXPECT_EQ(suggested_lr("adam"), 0.001);
}

TEST(optimiser, takes_no_gradient_of_another_size_than_the_model) {
  buffer_pool pool;
  const vec x = example(pool, 1), gradient = example(pool, 1, 3);
  for (const auto& entry : optimisers()) {
    const auto o = make_optimiser(entry.about.name);
    vec moved = x;
    for (const auto& use : std::vector<std::function<void()>>{[&] { o->step_at(x, moved, gradient, lr); },
                                                              [&] { o->step_at(moved, moved, gradient, lr); },
                                                              [&] { o->direction(x, gradient); }})
      try {
        use();
        ADD_FAILURE() << entry.about.name << " accepted it";
      } catch (const error& e) {
        EXPECT_STREQ(e.what(), "an optimiser gets a gradient of 3 elements for a model of 35; a gradient has as many "
                               "elements as the model");
      }
    EXPECT_EQ(moved, x) << entry.about.name;
  }
}

} // namespace
} // namespace gossamer::compute
