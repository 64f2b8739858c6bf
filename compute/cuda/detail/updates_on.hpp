#pragma once

#include "gossamer/base/cuda/detail/queue_vec.hpp"
#include "gossamer/compute/detail/updates.hpp"

#include <utility>

namespace gossamer::compute::cuda {

using gossamer::cuda::four;
using gossamer::cuda::load_four;
using gossamer::cuda::store_four;

/// x and the states of an optimiser, changed by a rule (compute/detail/updates.hpp).
template <class Rule, std::size_t states>
struct update_elements {
  static constexpr const char* name = "update_elements";
  struct shared {};

  Rule rule;
  const float* g;
  float* changed[1 + states]; ///< x, and then the states
  std::uint64_t size;

  template <class Thread>
  GOSSAMER_KERNEL void operator()(Thread& t) const {
    for (auto first = 4 * t.global(); first < size; first += 4 * t.globals())
      update_four(first, std::make_index_sequence<states>{});
  }

private:
  template <std::size_t... k>
  GOSSAMER_KERNEL void update_four(std::uint64_t first, std::index_sequence<k...>) const {
    const auto gradient = load_four(g, first, size);
    four<float> values[] = {load_four(changed[0], first, size), load_four(changed[1 + k], first, size)...};
    for (unsigned j = 0; j < 4; ++j)
      rule(values[0].x[j], gradient.x[j], values[1 + k].x[j]...);
    for (unsigned i = 0; i < 1 + states; ++i)
      store_four(changed[i], first, size, values[i]);
  }
};

/// Applies rules by one kernel on the queue of x, or else on that of the gradient; x and the states are there
/// afterwards. The host applies them if neither vector has a queue.
template <class Queue>
class updates_on final : public compute::detail::updates {
public:
  void apply(const compute::detail::sgd_rule& rule, vec& x, const vec& g) const override { run(rule, x, g); }
  void apply(const compute::detail::momentum_rule& rule, vec& x, const vec& g, vec& m) const override {
    run(rule, x, g, m);
  }
  void apply(const compute::detail::nesterov_rule& rule, vec& x, const vec& g, vec& m) const override {
    run(rule, x, g, m);
  }
  void apply(const compute::detail::adam_rule& rule, vec& x, const vec& g, vec& m, vec& v) const override {
    run(rule, x, g, m, v);
  }

private:
  using elements = gossamer::cuda::queue_vec<Queue>;

  template <class Rule, class... States>
  void run(const Rule& rule, vec& x, const vec& g, States&... states) const {
    GOSSAMER_ASSERT(x.size() == g.size(), "a gradient has as many elements as x");
    auto queue = elements::queue_of(x);
    if (queue == nullptr)
      queue = elements::queue_of(g);
    if (queue == nullptr) {
      updates::apply(rule, x, g, states...);
      return;
    }
    elements::lend(queue, g, [&](std::span<const float> gradient) {
      queue->launch(gossamer::cuda::warps_for(x.size(), 4),
                    update_elements<Rule, sizeof...(states)>{
                        rule,
                        gradient.data(),
                        {elements::owned(queue, x).data(), elements::owned(queue, states).data()...},
                        x.size()});
    });
  }
};

} // namespace gossamer::compute::cuda
