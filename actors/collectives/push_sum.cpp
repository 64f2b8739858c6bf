#include "gossamer/actors/collectives/push_sum.hpp"

#include <algorithm>
#include <array>

namespace gossamer::actors {

namespace {

vec without_bias(const vec& x, double weight) { return weight == 1 ? x : vec{static_cast<float>(1 / weight) * x}; }

vec as_vector(buffer_pool pool, double weight) { return vec{pool, std::array{static_cast<float>(weight)}}; }

} // namespace

void push_sum::fields(archive& a) {
  a(x)(z_)(w_)(view_)(whole_);
  if (overlap_ > 0)
    a(under_way_);
}

void push_sum::enter_view(const worker& w) {
  if (std::exchange(view_, w.present().number) != w.present().number)
    begin_anew();
}

void push_sum::begin_anew() {
  x = z_;
  w_ = 1;
  whole_ = true;
  under_way_.clear();
}

task<> push_sum::push(worker& w, std::uint64_t t) {
  z_ = without_bias(x, w_);
  const auto before = with_shares_under_way();
  const bool gave = give(w, t);
  bool took = true;
  if (t >= w.present().first_step + overlap_) {
    took = co_await take(w, t - overlap_, x, w_);
    under_way_.erase(t - overlap_);
  }
  whole_ = whole_ && gave && took;
  const auto after = with_shares_under_way();
  if (gave && took)
    w.claim_conserved("the sum of the models times their weights", t, before.first, after.first);
  if (whole_)
    w.claim_conserved("the sum of the weights, one for each member", t, as_vector(x.pool(), 1),
                      as_vector(x.pool(), after.second));
  z_ = without_bias(x, w_);
}

/// x and w, and what this worker has under way.
push_sum::weighed push_sum::with_shares_under_way() const {
  weighed sum{x, w_};
  for (const auto& [_, sent] : under_way_) {
    const auto& [receivers, share] = sent;
    const auto& [z, weight] = share;
    for (std::size_t k = 0; k < receivers.size(); ++k) {
      sum.first += static_cast<float>(weight) * z;
      sum.second += weight;
    }
  }
  return sum;
}

/// The oldest step of this view whose shares are under way when step t begins.
std::uint64_t push_sum::oldest_under_way(const worker& w, std::uint64_t t) const {
  return std::max(w.present().first_step, t - std::min(t, overlap_));
}

/// The label of a share of step t, which names the step where it is due.
tag push_sum::share_of(const worker& w, std::uint64_t t, std::uint32_t part) const {
  return {frame_kind::model, t + overlap_, part, overlap_ > 0 ? w.present().number : 0};
}

bool push_sum::is_dropped(const worker& w, rank from, rank to, std::uint64_t t) const {
  return w.shared_random(purpose::shared_1).uniform(t, std::uint64_t{from} * w.ranks() + to) < drop_;
}

/// @returns false if a receiver is lost; its share is kept
bool push_sum::give(worker& w, std::uint64_t t) {
  const auto receivers = peers_(w, t).to;
  if (receivers.empty())
    return true;
  const auto share = static_cast<float>(w_ / static_cast<double>(receivers.size() + 1));
  const auto model = w.encode(z_), weight = w.encode_exactly(as_vector(x.pool(), share));
  const vec sent = w.decode(model);
  std::vector<rank> reached;
  bool all = true;
  for (const auto j : receivers) {
    if (is_dropped(w, w.id(), j, t))
      continue;
    all = all && w.is_present(j);
    if (!w.is_present(j))
      continue;
    w.send(j, share_of(w, t, 0), model);
    w.send(j, share_of(w, t, 1), weight);
    x -= share * sent;
    w_ -= static_cast<double>(share);
    reached.push_back(j);
  }
  if (overlap_ > 0)
    under_way_[t] = {reached, {sent, static_cast<double>(share)}};
  return all;
}

/// Adds the shares of step t. @returns false if a sender is lost, and its share with it
task<bool> push_sum::take(worker& w, std::uint64_t t, vec& x_into, double& w_into) {
  const tag of_model = share_of(w, t, 0), of_weight = share_of(w, t, 1);
  const auto senders = peers_(w, t).from;
  bool all = true;
  for (const auto j : senders) {
    if (is_dropped(w, j, w.id(), t))
      continue;
    const auto model = co_await w.receive(j, of_model);
    const auto weight = co_await w.receive(j, of_weight);
    all = all && model && weight;
    if (!model || !weight)
      continue;
    const float share = w.decode(weight->body, 1)[0];
    x_into += share * w.decode(model->body);
    w_into += static_cast<double>(share);
  }
  co_return all;
}

/// Takes back the shares of a step that went to others than the receivers of now: a run may go on along other edges.
void push_sum::take_back(std::uint64_t step, std::span<const rank> receivers) {
  const auto sent = under_way_.find(step);
  if (sent == under_way_.end())
    return;
  auto& reached = sent->second.first;
  const auto& [z, weight] = sent->second.second;
  const auto stays = [&](rank j) { return std::ranges::count(receivers, j) > 0; };
  const auto gone = std::stable_partition(reached.begin(), reached.end(), stays);
  for (auto one = gone; one != reached.end(); ++one) {
    x += static_cast<float>(weight) * z;
    w_ += weight;
  }
  reached.erase(gone, reached.end());
}

/// Frames that were under way are gone where a run goes on from a checkpoint. All expect one of each step: a worker
/// that has none sends something of weight 0.
void push_sum::go_on(worker& w, std::uint64_t t) {
  if (overlap_ == 0)
    return;
  enter_view(w);
  const auto receivers = [&](std::uint64_t step) {
    auto to = peers_(w, step).to;
    std::erase_if(to, [&](rank j) { return is_dropped(w, w.id(), j, step); });
    return to;
  };
  for (auto step = oldest_under_way(w, t); step < t; ++step)
    take_back(step, receivers(step));
  z_ = without_bias(x, w_); // the end of a run has added to it
  for (auto step = oldest_under_way(w, t); step < t; ++step) {
    const auto sent = under_way_.find(step);
    for (const auto j : receivers(step)) {
      const bool has = sent != under_way_.end() && std::ranges::count(sent->second.first, j) > 0;
      const auto share = has ? sent->second.second : weighed{z_, 0};
      w.send(j, share_of(w, step, 0), w.encode_exactly(share.first));
      w.send(j, share_of(w, step, 1), w.encode_exactly(as_vector(x.pool(), share.second)));
    }
  }
}

task<> push_sum::await_rest(worker& w, std::uint64_t t) {
  if (overlap_ == 0)
    co_return;
  weighed last{x, w_};
  for (auto step = oldest_under_way(w, t); step < t && view_ == w.present().number; ++step)
    co_await take(w, step, last.first, last.second);
  z_ = without_bias(last.first, last.second);
}

} // namespace gossamer::actors
