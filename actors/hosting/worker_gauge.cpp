#include "gossamer/actors/hosting/worker_gauge.hpp"

#include "gossamer/actors/hosting/timed_coder.hpp"

#include <utility>

namespace gossamer::actors {

worker_gauge::time worker_gauge::now() const {
  return measures_ ? std::chrono::steady_clock::now().time_since_epoch() : time{0};
}

void worker_gauge::handler_begins() {
  handler_began_ = now();
  parts_ = {};
}

void worker_gauge::handler_ends() {
  if (!measures_)
    return;
  auto computing = now() - handler_began_;
  const std::scoped_lock lock{mutex_};
  for (const auto what : {activity::compressing, activity::communicating}) {
    const time spent{parts_.of(what)};
    sheet_.works(what, spent);
    computing -= spent;
  }
  sheet_.works(activity::computing, computing);
}

void worker_gauge::gradient_begins() { gradient_began_ = now(); }

void worker_gauge::gradient_ends() {
  if (!measures_)
    return;
  const std::scoped_lock lock{mutex_};
  sheet_.computes(now() - gradient_began_);
}

void worker_gauge::wait_begins(rank who, rank whom, const tag& wanted) {
  if (besides_)
    besides_->wait_begins(who, whom, wanted);
  const std::scoped_lock lock{mutex_};
  sheet_.wait_begins(whom, wanted, now(), now() - handler_began_);
}

/// A wait ends with the handler of its frame, which began before.
void worker_gauge::wait_ends(rank who, rank whom) {
  if (besides_)
    besides_->wait_ends(who, whom);
  const std::scoped_lock lock{mutex_};
  sheet_.wait_ends(whom, handler_began_);
}

void worker_gauge::pauses(rank who, time lasts) {
  if (besides_)
    besides_->pauses(who, lasts);
}

void worker_gauge::ends(rank who, std::uint32_t incarnation) {
  if (besides_)
    besides_->ends(who, incarnation);
}

void worker_gauge::adopts(rank who, const view& v) {
  if (besides_)
    besides_->adopts(who, v);
}

void worker_gauge::delivered(rank who, const frame& f) {
  if (besides_)
    besides_->delivered(who, f);
}

worker_activity worker_gauge::sample(time run_time) {
  const auto sent = sent_->by_peer();
  const std::scoped_lock lock{mutex_};
  auto result = measures_ ? activity_of(who_, sheet_, now()) : worker_activity{.who = who_};
  const auto passed_s = std::chrono::duration<double>(run_time - std::exchange(sampled_, run_time)).count();
  for (const auto& [peer, all] : sent) {
    const auto bits = all.wire_bits - std::exchange(sampled_bits_[peer], all.wire_bits);
    if (bits > 0 && passed_s > 0)
      result.bits_per_second[peer] = static_cast<std::uint64_t>(static_cast<double>(bits) / passed_s);
  }
  keep_largest(result.bits_per_second);
  return result;
}

std::shared_ptr<const compress::coder> measured(std::shared_ptr<const compress::coder> inner,
                                                std::shared_ptr<worker_gauge> gauge) {
  if (!gauge->measures())
    return inner;
  const auto clock = [gauge] { return gauge->now(); };
  return timed(std::move(inner), clock, [gauge](coding, worker_gauge::time took) { gauge->compressed(took); });
}

std::vector<worker_activity> gauge_board::sample(worker_gauge::time run_time) const {
  std::vector<worker_activity> all;
  for (const auto& [who, gauge] : gauges_)
    all.push_back(gauge->sample(run_time));
  return all;
}

} // namespace gossamer::actors
