// The loops behind the optimisers, compiled once for each instruction set and chosen at run time.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gossamer/compute/updates.cpp"
#include "gossamer/compute/detail/updates.hpp"

#include <hwy/foreach_target.h> // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gossamer::compute::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls `work(d, i)` for every full register of elements from i, and with a register of one for the rest.
template <class Work>
void for_each(std::size_t size, Work work) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 1> single;
  std::size_t i = 0;
  for (; i + hn::Lanes(whole) <= size; i += hn::Lanes(whole))
    work(whole, i);
  for (; i < size; ++i)
    work(single, i);
}

/// x <- x - lr * u(g), where g already includes the weight decay.
template <class Direction>
void descend(std::span<float> x, std::span<const float> g, update_rates rates, Direction u) {
  for_each(x.size(), [&](auto d, std::size_t i) {
    const auto old = hn::LoadU(d, x.data() + i);
    const auto gradient = hn::Add(hn::LoadU(d, g.data() + i), hn::Mul(hn::Set(d, rates.decay), old));
    hn::StoreU(hn::Sub(old, hn::Mul(hn::Set(d, rates.lr), u(d, i, gradient))), d, x.data() + i);
  });
}

void sgd_update(const sgd_rule& rule, std::span<float> x, std::span<const float> g) {
  descend(x, g, rule.rates, [](auto, std::size_t, auto gradient) { return gradient; });
}

void momentum_update(const momentum_rule& rule, std::span<float> x, std::span<const float> g, std::span<float> m) {
  descend(x, g, rule.rates, [&](auto d, std::size_t i, auto gradient) {
    const auto next = hn::Add(hn::Mul(hn::Set(d, rule.beta), hn::LoadU(d, m.data() + i)), gradient);
    hn::StoreU(next, d, m.data() + i);
    return next;
  });
}

void nesterov_update(const nesterov_rule& rule, std::span<float> x, std::span<const float> g, std::span<float> m) {
  descend(x, g, rule.rates, [&](auto d, std::size_t i, auto gradient) {
    const auto share = hn::Set(d, rule.beta);
    const auto next = hn::Add(hn::Mul(share, hn::LoadU(d, m.data() + i)), gradient);
    hn::StoreU(next, d, m.data() + i);
    return hn::Add(hn::Mul(share, next), gradient);
  });
}

void adam_update(const adam_rule& rule, std::span<float> x, std::span<const float> g, std::span<float> m,
                 std::span<float> v) {
  descend(x, g, rule.rates, [&](auto d, std::size_t i, auto gradient) {
    const auto first =
        hn::Add(hn::Mul(hn::Set(d, rule.beta1), hn::LoadU(d, m.data() + i)), hn::Mul(hn::Set(d, rule.rest1), gradient));
    const auto second = hn::Add(hn::Mul(hn::Set(d, rule.beta2), hn::LoadU(d, v.data() + i)),
                                hn::Mul(hn::Set(d, rule.rest2), hn::Mul(gradient, gradient)));
    hn::StoreU(first, d, m.data() + i);
    hn::StoreU(second, d, v.data() + i);
    const auto scale = hn::Add(hn::Sqrt(hn::Mul(second, hn::Set(d, rule.unbias2))), hn::Set(d, rule.epsilon));
    const auto step = hn::Div(hn::Mul(first, hn::Set(d, rule.unbias1)), scale);
    return hn::Add(step, hn::Mul(hn::Set(d, rule.pull), hn::LoadU(d, x.data() + i)));
  });
}

} // namespace HWY_NAMESPACE
} // namespace gossamer::compute::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gossamer::compute::detail {

HWY_EXPORT(sgd_update);
HWY_EXPORT(momentum_update);
HWY_EXPORT(nesterov_update);
HWY_EXPORT(adam_update);

void updates::apply(const sgd_rule& rule, vec& x, const vec& g) const {
  HWY_DYNAMIC_DISPATCH(sgd_update)(rule, x.mutate(), g.view());
}

void updates::apply(const momentum_rule& rule, vec& x, const vec& g, vec& m) const {
  HWY_DYNAMIC_DISPATCH(momentum_update)(rule, x.mutate(), g.view(), m.mutate());
}

void updates::apply(const nesterov_rule& rule, vec& x, const vec& g, vec& m) const {
  HWY_DYNAMIC_DISPATCH(nesterov_update)(rule, x.mutate(), g.view(), m.mutate());
}

void updates::apply(const adam_rule& rule, vec& x, const vec& g, vec& m, vec& v) const {
  HWY_DYNAMIC_DISPATCH(adam_update)(rule, x.mutate(), g.view(), m.mutate(), v.mutate());
}

} // namespace gossamer::compute::detail
#endif
