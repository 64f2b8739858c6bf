#include "gossamer/compute/torch/networks/detail/running_statistics.hpp"

namespace gossamer::compute::libtorch {

running_statistics::running_statistics(const module& m) {
  for (const auto& [name, buffer] : m.buffers())
    if (buffer.is_floating_point() && buffer.numel() > 0)
      all_.push_back({buffer});
}

/// Finds m from two starts: 0 becomes m s, and 1 becomes 1 - m + m s.
void running_statistics::find_shares(const std::function<void()>& run) {
  std::vector<::torch::Tensor> before, from_zero;
  for (const auto& one : all_) {
    before.push_back(one.buffer.clone());
    one.buffer.zero_();
  }
  run();
  for (const auto& one : all_) {
    from_zero.push_back(one.buffer.clone());
    one.buffer.fill_(1);
  }
  run();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    auto& one = all_[i];
    one.share = 1 - (one.buffer - from_zero[i]).to(::torch::kDouble).mean().item<double>();
    if (!(one.share > 1e-4 && one.share < 1 + 1e-4))
      one.share = 0;
    one.buffer.copy_(before[i]);
  }
  std::erase_if(all_, [](const auto& one) { return one.share == 0; });
}

void running_statistics::show(const std::function<void()>& run) {
  const ::torch::NoGradGuard constant;
  if (!std::exchange(shares_are_known_, true))
    find_shares(run);
  if (all_.empty())
    return;
  for (auto& one : all_)
    one.buffer.zero_();
  run();
  ++shown_;
  for (auto& one : all_) {
    const auto s = one.buffer / one.share;
    one.mean = shown_ == 1 ? s : one.mean + (s - one.mean) / shown_;
  }
}

void running_statistics::settle() {
  const ::torch::NoGradGuard constant;
  if (shown_ > 0)
    for (auto& one : all_)
      one.buffer.copy_(one.mean);
}

} // namespace gossamer::compute::libtorch
