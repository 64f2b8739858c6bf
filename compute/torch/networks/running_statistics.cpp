#include "gossamer/compute/torch/networks/detail/running_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace gossamer::compute::libtorch {

namespace {

/// The higher of two starts of a buffer. Two runs that drop other units out differ by m times the difference of their
/// statistics, which is nothing beside it.
constexpr double high = 4096;

std::string owner_of(const std::string& buffer) {
  const auto dot = buffer.rfind('.');
  return dot == std::string::npos ? "" : buffer.substr(0, dot);
}

} // namespace

running_statistics::running_statistics(module& m) : module_(m) {
  for (const auto& [name, buffer] : m.buffers())
    if (buffer.is_floating_point() && buffer.numel() > 0)
      followers_.push_back({name, buffer});
    else
      others_.push_back(buffer);
}

/// Lets the followers begin at one value, and puts the others back, such as counts of minibatches that decide about m.
void running_statistics::run_from(double start, const std::function<void()>& run) {
  std::vector<::torch::Tensor> before;
  for (const auto& buffer : others_)
    before.push_back(buffer.clone());
  for (const auto& one : followers_)
    one.buffer.fill_(start);
  if (owners_suffice_)
    module_.train_only(owners_);
  else
    module_.train(true);
  run();
  for (std::size_t i = 0; i < others_.size(); ++i)
    others_[i].copy_(before[i]);
}

/// Returns m of each buffer, from two starts: 0 becomes m s, and `high` becomes (1 - m) high + m s.
std::vector<double> running_statistics::shares(const std::function<void()>& run) {
  run_from(0, run);
  std::vector<::torch::Tensor> low;
  for (const auto& one : followers_)
    low.push_back(one.buffer.clone());
  run_from(high, run);
  std::vector<double> result;
  for (std::size_t i = 0; i < followers_.size(); ++i) {
    const double share = 1 - (followers_[i].buffer - low[i]).to(::torch::kDouble).mean().item<double>() / high;
    result.push_back(share > 1e-4 && share < 1.001 ? share : 0);
  }
  return result;
}

void running_statistics::find_shares(const std::function<void()>& run) {
  std::vector<::torch::Tensor> before;
  for (const auto& one : followers_)
    before.push_back(one.buffer.clone());
  const auto in_training = shares(run);
  for (std::size_t i = 0; i < followers_.size(); ++i) {
    auto& one = followers_[i];
    one.buffer.copy_(before[i]);
    one.share = in_training[i];
    if (one.share > 0)
      owners_.insert(owner_of(one.name));
    else
      others_.push_back(one.buffer);
  }
  std::erase_if(followers_, [](const auto& one) { return one.share == 0; });
  if (followers_.empty())
    return;

  owners_suffice_ = true;
  const auto alone = shares(run);
  for (std::size_t i = 0; i < followers_.size(); ++i)
    owners_suffice_ = owners_suffice_ && std::fabs(alone[i] - followers_[i].share) < 0.01;
  for (std::size_t i = 0; owners_suffice_ && i < followers_.size(); ++i)
    followers_[i].share = alone[i];
}

void running_statistics::show(const std::function<void()>& run) {
  const ::torch::NoGradGuard constant;
  if (!std::exchange(shares_are_known_, true))
    find_shares(run);
  if (followers_.empty())
    return;
  run_from(0, run);
  ++shown_;
  for (auto& one : followers_) {
    const auto s = one.buffer / one.share;
    one.mean = shown_ == 1 ? s : one.mean + (s - one.mean) / shown_;
  }
}

void running_statistics::settle() {
  const ::torch::NoGradGuard constant;
  if (shown_ > 0)
    for (auto& one : followers_)
      one.buffer.copy_(one.mean);
}

} // namespace gossamer::compute::libtorch
