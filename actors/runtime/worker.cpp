#include "gossamer/actors/runtime/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gossamer::actors {

worker::worker(worker_settings settings, std::unique_ptr<compute::optimiser> optimiser, worker_host& host)
    : settings_(std::move(settings)), optimiser_(std::move(optimiser)), host_(host),
      quantise_(random(purpose::quantise)), limit_(settings_.step_limit) {}

float worker::mixing(rank j) const {
  if (j == id())
    return settings_.own_weight;
  const auto found = std::ranges::lower_bound(settings_.neighbours, j);
  GOSSAMER_ASSERT(found != settings_.neighbours.end() && *found == j, "models are mixed with neighbours only");
  return settings_.mixing_weights[static_cast<std::size_t>(found - settings_.neighbours.begin())];
}

double worker::epoch(std::uint64_t t) const {
  const auto updates = settings_.synchronous ? t * settings_.workers : std::max(t, updates_);
  return static_cast<double>(updates) / settings_.updates_per_epoch;
}

float worker::learning_rate(std::uint64_t t) const {
  return static_cast<float>(settings_.lr * settings_.schedule->factor(epoch(t), settings_.planned_epochs));
}

error worker::diverged(const std::string& sign) const {
  return {errc::diverged,
          fmt::format("training diverged at worker {}, step {}, epoch {:.3g}: {}", id(), gradients_, epoch(gradients_),
                      sign),
          "lower --lr, or the momentum of --optimiser"};
}

worker::pending_gradient worker::start_gradient(const vec& x, std::uint64_t t) {
  GOSSAMER_ASSERT(!gradient_under_way_, "a worker has one gradient under way at a time");
  gradient_under_way_ = true;
  host_.compute(t, x);
  return pending_gradient{*this};
}

void worker::update(vec& x, const vec& gradient, std::uint64_t t) {
  const auto lr = learning_rate(t);
  optimiser_->step(x, gradient, lr);
  settings_.model->proximal_step(x.mutate(), lr);
}

packet worker::encode(const vec& v) {
  try {
    return settings_.codec->encode(v, quantise_, encodings_++);
  } catch (const error& e) {
    if (e.code() == errc::diverged)
      throw diverged(e.sentence());
    throw;
  }
}

vec worker::decode(const packet& p) const {
  if (p.elements != model().size())
    throw error(errc::bad_packet, fmt::format("worker {} received a vector of {} elements for a model of {}", id(),
                                              p.elements, model().size()));
  return compress::decode(p);
}

void worker::send(rank to, tag label, packet body) {
  host_.link_to(to).send({.source = id(), .label = label, .body = std::move(body)});
}

void worker::send_to_neighbours(tag label, const packet& body) {
  for (const auto j : neighbours())
    send(j, label, body);
}

void worker::spawn(task<> routine) {
  routines_.push_back(std::move(routine));
  routines_.back().start();
}

void worker::run(algorithm& a) {
  algorithm_ = &a;
  if (!settings_.synchronous)
    take_snapshot(0); // the first of the coordinator's evaluations, before anything has moved
  spawn(a.run(*this));
}

void worker::deliver(frame f) { inbox_.deliver(std::move(f)); }

void worker::gradient_arrived(gradient_result result) {
  if (!std::isfinite(result.loss))
    throw diverged(fmt::format("its loss is {}", result.loss));
  ++gradients_;
  host_.report(step_report{id(), gradients_, result.loss, host_.sent()});
  gradient_ = std::move(result.gradient);
  gradient_ready_ = true;
  gradient_signal_.notify();
}

void worker::begin_step(std::uint64_t t) {
  step_ = t;
  const auto every = settings_.evaluation_steps;
  const bool near_the_end = settings_.step_limit - t <= every / 2; // where the final evaluation follows anyway
  if (settings_.synchronous && every != 0 && t % every == 0 && !near_the_end)
    take_snapshot(t * workers());
}

std::uint64_t worker::hold() {
  held_ = true;
  return step_;
}

void worker::stop_at(std::uint64_t step) {
  limit_ = std::min(limit_, step);
  held_ = false;
  gate_.notify();
}

void worker::take_snapshot(std::uint64_t evaluation) {
  host_.report(snapshot{id(), evaluation, gradients_, model(), host_.sent()});
}

bool worker::finished() {
  for (auto& routine : routines_)
    if (routine.done())
      routine.check();
  return algorithm_ != nullptr && std::ranges::all_of(routines_, &task<>::done);
}

} // namespace gossamer::actors
