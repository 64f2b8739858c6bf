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

/// Calls `work(d, i)` for every full register of elements from i, and with a register of one for
/// those that are left.
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

/// x <- x - lr * u(g), where g comes with the weight decay.
template <class Direction>
void descend(std::span<float> x, std::span<const float> g, update_rates rates, Direction u) {
  for_each(x.size(), [&](auto d, std::size_t i) {
    const auto old = hn::LoadU(d, x.data() + i);
    const auto gradient = hn::Add(hn::LoadU(d, g.data() + i), hn::Mul(hn::Set(d, rates.decay), old));
    hn::StoreU(hn::Sub(old, hn::Mul(hn::Set(d, rates.lr), u(d, i, gradient))), d, x.data() + i);
  });
}

void sgd_update(std::span<float> x, std::span<const float> g, update_rates rates) {
  descend(x, g, rates, [](auto, std::size_t, auto gradient) { return gradient; });
}

void momentum_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta, update_rates rates) {
  descend(x, g, rates, [&](auto d, std::size_t i, auto gradient) {
    const auto next = hn::Add(hn::Mul(hn::Set(d, beta), hn::LoadU(d, m.data() + i)), gradient);
    hn::StoreU(next, d, m.data() + i);
    return next;
  });
}

void nesterov_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta, update_rates rates) {
  descend(x, g, rates, [&](auto d, std::size_t i, auto gradient) {
    const auto share = hn::Set(d, beta);
    const auto next = hn::Add(hn::Mul(share, hn::LoadU(d, m.data() + i)), gradient);
    hn::StoreU(next, d, m.data() + i);
    return hn::Add(hn::Mul(share, next), gradient);
  });
}

void adam_update(std::span<float> x, std::span<const float> g, std::span<float> m, std::span<float> v,
                 const adam_rates& adam, update_rates rates) {
  descend(x, g, rates, [&](auto d, std::size_t i, auto gradient) {
    const auto first =
        hn::Add(hn::Mul(hn::Set(d, adam.beta1), hn::LoadU(d, m.data() + i)), hn::Mul(hn::Set(d, adam.rest1), gradient));
    const auto second = hn::Add(hn::Mul(hn::Set(d, adam.beta2), hn::LoadU(d, v.data() + i)),
                                hn::Mul(hn::Set(d, adam.rest2), hn::Mul(gradient, gradient)));
    hn::StoreU(first, d, m.data() + i);
    hn::StoreU(second, d, v.data() + i);
    const auto scale = hn::Add(hn::Sqrt(hn::Mul(second, hn::Set(d, adam.unbias2))), hn::Set(d, adam.epsilon));
    return hn::Div(hn::Mul(first, hn::Set(d, adam.unbias1)), scale);
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

void sgd_update(std::span<float> x, std::span<const float> g, update_rates rates) noexcept {
  HWY_DYNAMIC_DISPATCH(sgd_update)(x, g, rates);
}

void momentum_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta,
                     update_rates rates) noexcept {
  HWY_DYNAMIC_DISPATCH(momentum_update)(x, g, m, beta, rates);
}

void nesterov_update(std::span<float> x, std::span<const float> g, std::span<float> m, float beta,
                     update_rates rates) noexcept {
  HWY_DYNAMIC_DISPATCH(nesterov_update)(x, g, m, beta, rates);
}

void adam_update(std::span<float> x, std::span<const float> g, std::span<float> m, std::span<float> v,
                 const adam_rates& adam, update_rates rates) noexcept {
  HWY_DYNAMIC_DISPATCH(adam_update)(x, g, m, v, adam, rates);
}

} // namespace gossamer::compute::detail
#endif
