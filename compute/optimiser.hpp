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
/// A weight decay is coupled, g <- g + weight-decay * x before anything else, or decoupled, a term weight-decay * x of
/// u(g).
///
/// Threads: one thread at a time. Allocates nothing after the first step, but for a pool's buffers.
class optimiser {
public:
  virtual ~optimiser() = default;
  virtual void step(vec& x, const vec& gradient, float lr) = 0;
  /// Does `step` with the weight decay of another point: weight-decay * at, where the gradient was taken. Equal to
  /// `step` bit for bit without weight decay, or if the two points are one.
  void step_at(const vec& at, vec& x, const vec& gradient, float lr);
  /// Returns u(g) at x, for algorithms that compress it before they apply it. Changes the state as `step` does.
  vec direction(const vec& x, const vec& gradient);
  /// sum_k a_k / (sum_k a_k^2)^(1/2), where u_t = sum_k a_k g_t-k. When gradients are unrelated, directions lead this
  /// many times further in the long run than unrelated vectors of u's size. At least 1. For Adam: with a steady v.
  virtual double persistence() const = 0;
  /// Visits everything that a later step depends on.
  virtual void fields(archive&) {}
  virtual std::unique_ptr<optimiser> clone() const = 0;

  /// Exchanges the updates, which the host computes by default; `updates_on_gpus` (compute/cuda/updates.hpp) are
  /// others. Applies to later clones as well.
  /// @param u must outlive this object and its clones
  void update_with(const detail::updates& u) noexcept { updates_ = &u; }

protected:
  optimiser() noexcept;
  const detail::updates& updates() const noexcept { return *updates_; }

private:
  virtual float weight_decay() const = 0; ///< the coupled one
  virtual float decoupled_decay() const { return 0; }

  const detail::updates* updates_;
};

struct optimiser_entry {
  description about;
  std::unique_ptr<optimiser> (*make)(const arguments&);
  /// A learning rate that is safe when the problem is unknown: bench/learning_rates.py measures it.
  double (*suggested_lr)(const arguments&);
};

/// All optimisers: sgd, momentum, nesterov, adam, adamw.
const registry<optimiser_entry>& optimisers();
std::unique_ptr<optimiser> make_optimiser(std::string_view text, const registry<optimiser_entry>& known = optimisers());
double suggested_lr(std::string_view optimiser, const registry<optimiser_entry>& known = optimisers());
/// The parameters of Adam's moments: `beta1`, `beta2` and `epsilon`.
std::vector<parameter> parameters_of_moments();

} // namespace gossamer::compute
