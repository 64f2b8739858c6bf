#pragma once

#include "gossamer/testing/tiny_world.hpp"

// Workers that do one thing.
namespace gossamer::testing_support {

/// A worker whose life is one coroutine on one vector.
class script final : public actors::algorithm {
public:
  using life = std::function<actors::task<>(actors::worker&, vec&)>;
  script(vec x, life l) : x_(std::move(x)), life_(std::move(l)) {}
  actors::task<> run(actors::worker& w) override { return life_(w, x_); }
  const vec& model() const override { return x_; }
  void fields(archive& a) override { a(x_); }

private:
  vec x_;
  life life_;
};

inline tiny_world::gradient_of no_gradient() {
  return [](actors::rank, std::uint64_t, const vec& x) { return 0.0f * x; };
}

} // namespace gossamer::testing_support
