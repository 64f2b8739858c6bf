#pragma once

#include "gossamer/base/archive.hpp"
#include "gossamer/base/registry.hpp"
#include "gossamer/base/vec.hpp"

#include <memory>

namespace gossamer::compute {

namespace detail {
class updates;
}

/// Turns a gradient into an update of the model: x <- x - lr * u(g), where u keeps state (momentum) between calls.
/// Weight decay is coupled: g <- g + weight-decay * x before anything else.
///
/// Threads: one thread at a time. Allocates nothing after the first step.
class optimiser {
public:
  virtual ~optimiser() = default;
  virtual void step(vec& x, const vec& gradient, float lr) = 0;
  /// The same with the weight decay of another point: g <- g + weight-decay * at, where the gradient was taken. Equal
  /// to `step` bit for bit without weight decay, or where the two points are one.
  void step_at(const vec& at, vec& x, const vec& gradient, float lr);
  /// u(g) at x, for algorithms that compress it before they apply it. Like `step`, it moves the state on.
  vec direction(const vec& x, const vec& gradient);
  /// sum_k a_k / (sum_k a_k^2)^(1/2), where u_t = sum_k a_k g_t-k: so many times further than unrelated vectors of u's
  /// size do directions lead in the long run, when the gradients are unrelated. At least 1. Of Adam: for a steady v.
  virtual double persistence() const = 0;
  /// Everything that a later step depends on.
  virtual void fields(archive&) {}
  virtual std::unique_ptr<optimiser> clone() const = 0;

  /// Exchanges who computes, which is the host to begin with: see compute/cuda/updates.hpp. Counts for clones as well.
  /// @param u outlives them
  void update_with(const detail::updates& u) noexcept { updates_ = &u; }

protected:
  optimiser() noexcept;
  const detail::updates& updates() const noexcept { return *updates_; }

private:
  virtual float weight_decay() const = 0;

  const detail::updates* updates_;
};

struct optimiser_entry {
  description about;
  std::unique_ptr<optimiser> (*make)(const arguments&);
  /// A learning rate that is safe where nothing is known of the problem: bench/learning_rates.py measures it.
  double (*suggested_lr)(const arguments&);
};

/// All optimisers: sgd, momentum, nesterov, adam.
const registry<optimiser_entry>& optimisers();
std::unique_ptr<optimiser> make_optimiser(std::string_view text);
double suggested_lr(std::string_view optimiser);

} // namespace gossamer::compute
