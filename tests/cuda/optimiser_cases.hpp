#pragma once

#include "gossamer/compute/detail/updates.hpp"
#include "gossamer/compute/optimiser.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>

// The promises of optimisers whose vectors are on a device, for any way to bring a vec there.
namespace gossamer::test {

struct vec_device {
  std::function<vec(const vec&)> bring;
  const compute::detail::updates& updates;
};

/// The spelling of an optimiser, and the size of x.
using optimiser_case = std::tuple<std::string, std::size_t>;

inline auto optimiser_cases() {
  return testing::Combine(testing::Values("sgd", "sgd:weight-decay=0.01", "momentum", "momentum:weight-decay=0.01",
                                          "nesterov", "nesterov:weight-decay=0.01", "adam", "adam:weight-decay=0.01",
                                          "adamw:weight-decay=0.1"),
                          testing::Values(0, 1, 3, 33, 1030));
}

inline bool is_on_device(const vec& v) { return v.remote() && v.remote()->on_device() != nullptr; }

/// Expects the same bits. A zero may have another sign.
inline void expect_same(const vec& actual, const vec& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const float a = actual[i], e = expected[i];
    EXPECT_TRUE((a == 0 && e == 0) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(e))
        << a << " in place of " << e << " at " << i;
  }
}

/// Two equal optimisers, of which `twin` computes on the device.
struct optimiser_pair {
  optimiser_pair(const optimiser_case& c, const vec_device& d)
      : device(d), size(std::get<1>(c)), host(compute::make_optimiser(std::get<0>(c))),
        twin(compute::make_optimiser(std::get<0>(c))) {
    twin->update_with(device.updates);
  }

  /// Returns numbers of all magnitudes.
  vec numbers(int seed) {
    vec v{pool, size};
    auto x = v.mutate();
    for (std::size_t i = 0; i < size; ++i)
      x[i] = std::sin(static_cast<float>(seed) + static_cast<float>(i))
             * std::ldexp(1.0f, (static_cast<int>(i) * 7 + seed) % 60 - 45);
    if (size > 3) {
      x[1] = 0;
      x[2] = std::numeric_limits<float>::denorm_min();
    }
    return v;
  }

  /// Takes the same step with both.
  void step(vec& on_host, vec& on_device, const vec& gradient_there, int t) {
    const vec g = numbers(t);
    const float lr = 0.1f / static_cast<float>(1 + t);
    host->step(on_host, g, lr);
    twin->step(on_device, gradient_there, lr);
    expect_same(on_device, on_host);
  }

  buffer_pool pool;
  vec_device device;
  std::size_t size;
  std::unique_ptr<compute::optimiser> host, twin;
};

inline void expect_steps_of_the_host(const optimiser_case& c, const vec_device& device) {
  optimiser_pair pair{c, device};
  vec expected = pair.numbers(100), x = device.bring(expected);
  for (int t = 0; t < 5; ++t) {
    pair.step(expected, x, device.bring(pair.numbers(t)), t);
    EXPECT_TRUE(is_on_device(x)) << t;
  }
}

inline void expect_directions_of_the_host(const optimiser_case& c, const vec_device& device) {
  optimiser_pair pair{c, device};
  for (int t = 0; t < 5; ++t) {
    const vec x = pair.numbers(100 + t), g = pair.numbers(t), x_there = device.bring(x), g_there = device.bring(g);
    const vec expected = pair.host->direction(x, g), u = pair.twin->direction(x_there, g_there);
    EXPECT_TRUE(is_on_device(u));
    expect_same(u, expected);
    EXPECT_EQ(x_there, x);
    EXPECT_EQ(g_there, g);
  }
}

/// Expects x on the device after a step if x or the gradient was there, and on the host otherwise.
inline void expect_vectors_may_be_anywhere(const optimiser_case& c, const vec_device& device) {
  optimiser_pair pair{c, device};
  vec expected = pair.numbers(100), x = expected;
  for (int t = 0; t < 8; ++t) {
    const bool x_there = t % 4 == 1 || t % 4 == 2, gradient_there = t % 4 >= 2;
    SCOPED_TRACE(testing::Message() << "step " << t);
    x = x_there ? device.bring(x) : on_host(x);
    const vec g = pair.numbers(t);
    pair.step(expected, x, gradient_there ? device.bring(g) : g, t);
    EXPECT_EQ(is_on_device(x), x_there || gradient_there);
  }
}

/// Saves the state on the device and reads it on the host. The next step brings it back.
inline void expect_restored_state_to_go_there(const optimiser_case& c, const vec_device& device) {
  optimiser_pair pair{c, device};
  vec expected = pair.numbers(100), x = device.bring(expected);
  for (int t = 0; t < 6; ++t) {
    pair.step(expected, x, device.bring(pair.numbers(t)), t);
    archive_writer saved;
    pair.twin->fields(saved);
    pair.twin = compute::make_optimiser(std::get<0>(c));
    pair.twin->update_with(device.updates);
    archive_reader restored{saved.bytes(), pair.pool};
    pair.twin->fields(restored);
    EXPECT_NO_THROW(restored.finish());
  }
}

/// Expects no change of vectors and states that are shared.
inline void expect_what_is_shared_to_stay(const optimiser_case& c, const vec_device& device) {
  optimiser_pair pair{c, device};
  vec expected = pair.numbers(100), x = device.bring(expected);
  for (int t = 0; t < 5; ++t) {
    const vec g = pair.numbers(t), gradient = device.bring(g);
    const vec before = expected, snapshot = x, same_gradient = gradient;
    const auto twins_clone = pair.twin->clone(), hosts_clone = pair.host->clone();
    pair.step(expected, x, gradient, t);
    expect_same(snapshot, before);
    EXPECT_EQ(same_gradient, g);
    vec other = snapshot, others_expected = before; // a step from the state before
    twins_clone->step(other, gradient, 0.5f);
    hosts_clone->step(others_expected, g, 0.5f);
    EXPECT_TRUE(is_on_device(other)) << "clones compute where their original does";
    expect_same(other, others_expected);
  }
  vec itself = x;
  pair.host->step(expected, vec{expected}, 0.1f);
  pair.twin->step(x, itself, 0.1f); // x is its own gradient
  expect_same(x, expected);
}

} // namespace gossamer::test
