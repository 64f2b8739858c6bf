#include "gossamer/actors/algorithms/variance_reduction.hpp"

#include "gossamer/actors/collectives/ask.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gossamer::actors {

namespace {

class svrg_worker final : public algorithm {
public:
  svrg_worker(vec initial, std::unique_ptr<compress::codec> gradients)
      : snapshot_(std::move(initial)), gradients_(std::move(gradients)) {}

  task<> run(worker& w) override {
    svrg_message result;
    for (;;) {
      const auto order = co_await ask(w, w.master(0), ++requests_, result.label.packed(), result.body);
      if (result.label.kind == svrg_kind::gradient)
        w.claim_opposite(w.master(0), true, question_number(w, requests_), -1 * w.decode(result.body));
      const auto label = svrg_label::of(order.label.part);
      co_await w.may_leave(); // its result is with the master, and another worker gets the order
      if (label.kind == svrg_kind::nothing || w.over())
        break;
      result = co_await work(w, label, order.body);
    }
  }

  const vec& model() const override { return snapshot_; }
  remembered_model remembers() const override { return {snapshot_, epoch_}; }
  void fields(archive& a) override { a(snapshot_)(epoch_)(t_)(requests_); }

private:
  task<svrg_message> work(worker& w, svrg_label order, const packet& body) {
    if (order.kind == svrg_kind::snapshot || order.kind == svrg_kind::snapshot_part)
      snapshot_ = w.decode(body);
    if (order.kind == svrg_kind::snapshot)
      co_return svrg_message{};
    if (order.kind == svrg_kind::part || order.kind == svrg_kind::snapshot_part) {
      const auto parts = static_cast<std::uint32_t>(w.workers());
      const vec sum = co_await w.start_full_part(snapshot_, order.number, parts, t_);
      svrg_message answer{{svrg_kind::part, order.number}, w.encode_exactly(sum)};
      co_return answer;
    }
    epoch_ = order.number;
    const vec q = told(w, order.kind, body);
    const vec alpha = co_await w.start_difference(q, snapshot_, t_++);
    svrg_message answer{{svrg_kind::gradient, order.number}, w.encode(*gradients_, alpha)};
    co_return answer;
  }

  vec told(const worker& w, svrg_kind kind, const packet& body) const {
    if (kind == svrg_kind::same_as_snapshot)
      return snapshot_;
    return kind == svrg_kind::offset ? snapshot_ + w.decode(body) : w.decode(body);
  }

  vec snapshot_;
  std::uint64_t epoch_ = 0; // of its last gradient
  std::uint64_t t_ = 0;     // number of gradients
  std::uint64_t requests_ = 0;
  std::unique_ptr<compress::codec> gradients_;
};

} // namespace

std::unique_ptr<algorithm> make_svrg_worker(const algorithm_setup& s, std::unique_ptr<compress::codec> gradients) {
  return std::make_unique<svrg_worker>(s.initial, std::move(gradients));
}

std::unique_ptr<algorithm> make_exact_svrg_worker(const algorithm_setup& s) {
  return make_svrg_worker(s, compress::make_codec("identity"));
}

// -- the master's tasks -----------------------------------------------------------------------------------------------

svrg_master::svrg_master(const algorithm_setup& s)
    : x_(s.initial), snapshot_(s.initial), gate_(s.given), shows_snapshot_(s.given.is("output", "snapshot")) {}

void svrg_master::begin_from(worker& w, remembered_model known) {
  x_ = snapshot_ = own_part(w, known, x_.size());
  epoch_ = known.version + 1;
  updates_ = known.version * epoch_length(w);
  begin_from_snapshot();
}

void svrg_master::own_fields(archive& a) {
  a(x_)(snapshot_)(full_)(epoch_)(inner_)(updates_)(sums_)(told_)(parts_)(shares_);
  gate_.fields(a);
  further_fields(a);
}

void svrg_master::withdraw(rank who) {
  told_.erase(who);
  parts_.erase(who);
  gate_.forget(who);
}

// -- questions --------------------------------------------------------------------------------------------------------

void svrg_master::take(worker& w, const frame& asked) {
  if (std::exchange(shares_, w.workers()) != w.workers())
    sums_.clear(); // the run goes on from a checkpoint with another number of workers
  const auto from = asked.source;
  const auto label = svrg_label::of(asked.label.part);
  if (label.kind == svrg_kind::nothing) { // the worker has no task
    parts_.erase(from);
    gate_.forget(from);
    return;
  }
  const auto part = parts_.find(from);
  const bool sum_is_due = label.kind == svrg_kind::part && part != parts_.end() && part->second == label.number;
  const bool gradient_is_due = label == svrg_label{svrg_kind::gradient, number_of_epoch()} && gate_.has_read(from);
  if (!sum_is_due && !gradient_is_due && w.life_of(w.id()).value_or(0) > 0) {
    gate_.forget(from); // an earlier incarnation of this master gave the task, and its state is lost;
    if (label.kind == svrg_kind::gradient)
      w.claim_opposite(from, false, asked.label.step, w.decode(asked.body)); // the worker cannot know
    return;
  }
  if (!sum_is_due && !gradient_is_due)
    throw error(errc::bad_packet, fmt::format("worker {} answered what it was not asked in epoch {}", from, epoch_));
  const vec result = w.decode(asked.body);
  if (sum_is_due) {
    parts_.erase(part);
    take_part(w, label.number, result);
  } else {
    w.gradient_applied(gate_.applies(from, inner_));
    w.claim_opposite(from, false, asked.label.step, result);
    apply(w, result);
  }
}

void svrg_master::take_part(worker& w, std::uint32_t part, const vec& sum) {
  sums_[part] = sum;
  if (sums_.size() < w.workers())
    return;
  full_ = sums_[0];
  for (std::uint32_t k = 1; k < sums_.size(); ++k)
    full_ += sums_[k];
  full_ *= static_cast<float>(1 / static_cast<double>(w.samples()));
  sums_.clear();
  begin(w);
}

void svrg_master::apply(worker& w, const vec& alpha) {
  step(w, alpha + full_);
  ++updates_;
  ++inner_;
  if (inner_ >= epoch_length(w))
    end_epoch();
}

/// A run that goes on with larger minibatches has shorter epochs: the present one may be over already.
void svrg_master::act(worker& w) {
  if (!full_.empty() && inner_ >= epoch_length(w) && gate_.under_way() == 0)
    end_epoch();
}

void svrg_master::end_epoch() {
  snapshot_ = next_snapshot(inner_);
  full_ = {};
  inner_ = 0;
  ++epoch_;
}

// -- answers ----------------------------------------------------------------------------------------------------------

std::optional<master::answer> svrg_master::answer_to(worker& w, const pending_request& q) {
  const auto order = [](svrg_kind kind, std::uint32_t number, packet body) {
    return answer{svrg_label{kind, number}.packed(), std::move(body)};
  };
  if (w.over())
    return order(svrg_kind::nothing, 0, {});
  const auto part = next_part(w);
  if (part)
    parts_[q.from] = *part;
  if (std::exchange(told_[q.from], epoch_) != epoch_)
    return order(part ? svrg_kind::snapshot_part : svrg_kind::snapshot, part.value_or(0), w.encode_exactly(snapshot_));
  if (part)
    return order(svrg_kind::part, *part, {});
  if (!may_read(w))
    return std::nullopt;
  gate_.read(q.from, inner_);
  auto [kind, body] = tell(w);
  return order(kind, number_of_epoch(), std::move(body));
}

/// The first part of the full gradient that no worker computes.
std::optional<std::uint32_t> svrg_master::next_part(const worker& w) const {
  if (!full_.empty())
    return std::nullopt;
  const auto taken = [this](std::uint32_t k) {
    return sums_.contains(k) || std::ranges::any_of(parts_, [k](const auto& p) { return p.second == k; });
  };
  for (std::uint32_t k = 0; k < w.workers(); ++k)
    if (!taken(k))
      return k;
  return std::nullopt;
}

bool svrg_master::may_read(const worker& w) const {
  return !full_.empty() && inner_ + gate_.under_way() < epoch_length(w) && gate_.admits(inner_);
}

std::uint64_t svrg_master::epoch_length(const worker& w) const {
  return static_cast<std::uint64_t>(std::ceil(w.updates_per_epoch()));
}

std::vector<parameter> family_parameters(std::vector<parameter> own, std::string output) {
  own.push_back(staleness_parameter());
  own.push_back({.key = "output",
                 .kind = parameter::type::choice,
                 .fallback = std::move(output),
                 .meaning = "what is evaluated: the newest iterate, or the last snapshot",
                 .choices = {"iterate", "snapshot"}});
  return own;
}

} // namespace gossamer::actors
