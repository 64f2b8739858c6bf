#include "gossamer/actors/algorithms/variance_reduction.hpp"

#include "gossamer/actors/collectives/ask.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gossamer::actors {

namespace {

class svrg_worker final : public algorithm {
public:
  svrg_worker(vec initial, std::unique_ptr<compress::codec> gradients)
      : snapshot_(std::move(initial)), gradients_(std::move(gradients)) {}

  task<> run(worker& w) override {
    svrg_message result;
    for (;;) {
      const auto order = co_await ask(w, w.master(0), ++questions_, result.label.packed(), result.body);
      if (result.label.kind == svrg_kind::gradient)
        w.claim_opposite(w.master(0), true, questions_, -1 * w.decode(result.body));
      const auto label = svrg_label::of(order.label.part);
      if (label.kind == svrg_kind::nothing || w.over())
        break;
      result = co_await work(w, label, order.body);
    }
  }

  const vec& model() const override { return snapshot_; }
  void fields(archive& a) override { a(snapshot_)(t_)(questions_); }

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
  std::uint64_t t_ = 0; // gradients
  std::uint64_t questions_ = 0;
  std::unique_ptr<compress::codec> gradients_;
};

} // namespace

std::unique_ptr<algorithm> make_svrg_worker(const algorithm_setup& s, std::unique_ptr<compress::codec> gradients) {
  return std::make_unique<svrg_worker>(s.initial, std::move(gradients));
}

// -- the master's two coroutines --------------------------------------------------------------------------------------

svrg_master::svrg_master(const algorithm_setup& s)
    : x_(s.initial), snapshot_(s.initial), staleness_(static_cast<std::uint64_t>(s.given.integer("staleness"))),
      shows_snapshot_(s.given.is("output", "snapshot")) {}

task<> svrg_master::run(worker& w) {
  w.serve(listen(w));
  w.serve(watch(w));
  co_return;
}

void svrg_master::fields(archive& a) {
  a(x_)(snapshot_)(full_)(epoch_)(inner_)(updates_)(sums_)(workers_)(parts_)(reads_);
  questions_.fields(a);
  more_fields(a);
}

task<> svrg_master::listen(worker& w) {
  for (;;) {
    const auto request = co_await w.receive_any(frame_kind::request);
    meet(request);
    if (questions_.accept(request))
      take(w, request);
    else
      forget(request.source); // it never got the last answer, nor the task and the snapshot that may have been in it
    settle(w);
  }
}

task<> svrg_master::watch(worker& w) {
  for (;;) {
    co_await w.change();
    questions_.forget_lost(w);
    for (rank i = 0; i < w.workers(); ++i)
      if (!w.is_present(i))
        forget(i);
    settle(w);
  }
}

/// One that lives anew has no snapshot.
void svrg_master::meet(const frame& request) {
  auto& incarnation = workers_[request.source].first;
  if (std::exchange(incarnation, request.incarnation) != request.incarnation)
    forget(request.source);
}

void svrg_master::forget(rank who) {
  workers_[who].second = 0;
  parts_.erase(who);
  reads_.erase(who);
}

// -- what comes in ----------------------------------------------------------------------------------------------------

void svrg_master::take(worker& w, const frame& request) {
  const auto from = request.source;
  const auto label = svrg_label::of(request.label.part);
  if (label.kind == svrg_kind::nothing) { // so it is at no task
    parts_.erase(from);
    reads_.erase(from);
    return;
  }
  const auto part = parts_.find(from);
  const bool sum_is_due = label.kind == svrg_kind::part && part != parts_.end() && part->second == label.number;
  const bool gradient_is_due = label == svrg_label{svrg_kind::gradient, number_of_epoch()} && reads_.contains(from);
  if (!sum_is_due && !gradient_is_due)
    throw error(errc::bad_packet, fmt::format("worker {} answered what it was not asked in epoch {}", from, epoch_));
  const vec result = w.decode(request.body);
  if (sum_is_due) {
    parts_.erase(part);
    take_part(w, label.number, result);
  } else {
    reads_.erase(from);
    w.claim_opposite(from, false, request.label.step, result);
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
  if (++inner_ < epoch_length(w))
    return;
  snapshot_ = next_snapshot(inner_);
  full_ = {};
  inner_ = 0;
  ++epoch_;
}

// -- what goes out ----------------------------------------------------------------------------------------------------

/// Everything that is answered has been written into the books and saved before.
void svrg_master::settle(worker& w) {
  std::vector<std::pair<rank, svrg_message>> tasks;
  for (const auto who : questions_.waiting())
    if (auto task = task_for(w, who))
      tasks.emplace_back(who, std::move(*task));
  w.save();
  for (auto& [who, task] : tasks)
    questions_.answer(w, who, task.label.packed(), std::move(task.body));
}

/// Nothing while there is nothing to do.
std::optional<svrg_message> svrg_master::task_for(worker& w, rank who) {
  if (w.over())
    return svrg_message{};
  const auto part = next_part(w);
  if (part)
    parts_[who] = *part;
  if (std::exchange(workers_[who].second, epoch_) != epoch_)
    return svrg_message{{part ? svrg_kind::snapshot_part : svrg_kind::snapshot, part.value_or(0)},
                        w.encode_exactly(snapshot_)};
  if (part)
    return svrg_message{{svrg_kind::part, *part}, {}};
  if (!may_read(w))
    return std::nullopt;
  reads_[who] = inner_;
  auto told = tell(w);
  return svrg_message{{told.kind, number_of_epoch()}, std::move(told.body)};
}

/// The first part of the full gradient that nobody computes.
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
  const auto fits = [this](const auto& read) { return inner_ - read.second + reads_.size() <= staleness_; };
  return !full_.empty() && inner_ + reads_.size() < epoch_length(w) && reads_.size() <= staleness_
         && std::ranges::all_of(reads_, fits);
}

std::uint64_t svrg_master::epoch_length(const worker& w) const {
  return static_cast<std::uint64_t>(std::ceil(w.updates_per_epoch()));
}

std::size_t one_master(const arguments&) { return 1; }

parameter staleness_parameter() {
  return {.key = "staleness",
          .kind = parameter::type::integer,
          .fallback = "1000000000",
          .meaning = "tau: a gradient is applied at most so many updates after its model was read",
          .min = 0,
          .max = 1e9};
}

parameter output_parameter(std::string fallback) {
  return {.key = "output",
          .kind = parameter::type::choice,
          .fallback = std::move(fallback),
          .meaning = "what is evaluated: the newest iterate, or the last snapshot",
          .choices = {"iterate", "snapshot"}};
}

} // namespace gossamer::actors
