#include "gossamer/actors/real_time/real_time.hpp"

#include "gossamer/actors/evaluation/evaluation_frames.hpp"
#include "gossamer/actors/faults/faulty_link.hpp"
#include "gossamer/actors/hosting/evaluator.hpp"
#include "gossamer/actors/hosting/run_trace.hpp"
#include "gossamer/actors/real_time/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace gossamer::actors {

namespace {

/// Wraps every link of another transport.
class wrapping_transport final : public transport {
public:
  wrapping_transport(std::shared_ptr<transport> inner, link_wrapper wrap)
      : inner_(std::move(inner)), wrap_(std::move(wrap)) {}

  void attach(life who, frame_sink sink) override { inner_->attach(who, std::move(sink)); }
  std::unique_ptr<link> link_to(rank from, life to) override { return wrap_(from, to.who, inner_->link_to(from, to)); }

private:
  std::shared_ptr<transport> inner_;
  link_wrapper wrap_;
};

/// Calls a postponed function when the clock delivers the message. (A class: of a function without arguments, CAF 0.17
/// makes an actor that refers to arguments that are not there.)
class delay_line final : public caf::event_based_actor {
public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](const postponed& p) { p.what(); }};
  }
};

/// @param line a `delay_line`
timer timer_of(caf::actor_system& system, const caf::actor& line) {
  return [&system, line = caf::actor_cast<caf::strong_actor_ptr>(line)](std::chrono::nanoseconds delay,
                                                                        std::function<void()> what) {
    system.clock().schedule_message(
        system.clock().now() + delay, line,
        caf::make_mailbox_element(nullptr, caf::make_message_id(), caf::no_stages, postponed{std::move(what)}));
  };
}

/// Workers that share processors take their turns; a slow worker is slow in comparison with its share.
double fair_share(std::size_t workers) {
  return std::max(1.0, static_cast<double>(workers) / std::max(1u, std::thread::hardware_concurrency()));
}

/// Returns `compute_setup::on_gradient`.
std::function<void(std::uint64_t, std::chrono::nanoseconds)> teller_of(const std::shared_ptr<run_trace>& trace,
                                                                       rank worker) {
  if (!trace)
    return nullptr;
  return [trace, worker](std::uint64_t step, std::chrono::nanoseconds took) { trace->computed(worker, step, took); };
}

} // namespace

std::size_t threads_of_system(std::size_t threads) {
  constexpr std::size_t least = 4, besides = 2; // CAF's clock, and its printer
  return besides + (threads > 0 ? threads : std::max<std::size_t>(least, std::thread::hardware_concurrency()));
}

void require_threads_of(const experiment& e, std::size_t workers, std::size_t others) {
  constexpr std::size_t evaluator = 1;
  const std::size_t writer = e.settings.checkpoint.is_set() ? 1 : 0;
  require_threads(threads_of_system(e.settings.threads) + workers + evaluator + writer + others);
}

void set_scheduler(caf::actor_system_config& config, std::size_t threads) {
  config.set("scheduler.policy", caf::atom("sharing"));
  if (threads > 0)
    config.set("scheduler.max-threads", threads);
}

real_time::real_time(caf::actor_system& system, std::shared_ptr<const experiment> e, const run_surroundings& around,
                     std::size_t workers)
    : system_(system), run_(std::move(e)), around_(around), workers_(workers),
      board_(std::make_shared<fault_board>(around.faults, run_->participants(), around.workers_per_node,
                                           run_->settings.seed)),
      began_(system.clock().now()), line_(system.spawn<delay_line>()) {
  check_without_processes(around_.faults);
  if (around_.trace)
    around_.trace->begin([&clock = system.clock(), began = began_] { return clock.now() - began; },
                         static_cast<rank>(run_->settings.worker_ranks()));
}

real_time::~real_time() {
  if (around_.trace)
    around_.trace->end();
}

double real_time::now() const { return std::chrono::duration<double>(system_.clock().now() - began_).count(); }

void real_time::switch_fault(const actors::switch_fault& m) const {
  if (!m.fault.empty() && m.on)
    board_->add(m.index, parse_plan(m.fault, "a fault of the leader").faults.at(0));
  if (!board_->has(m.index))
    return;
  const auto lasts = board_->at(m.index).lasts_s;
  m.on ? board_->begin(m.index, lasts ? now() + *lasts : fault_board::for_ever) : board_->end(m.index);
}

/// Returns the transport with links whose frames are drawn, or the transport itself.
std::shared_ptr<transport> real_time::drawn(std::shared_ptr<transport> net) const {
  if (!around_.trace)
    return net;
  return std::make_shared<wrapping_transport>(
      std::move(net), [trace = around_.trace](rank, rank to, auto made) { return trace->watch(to, std::move(made)); });
}

/// Returns the transport with the links that the plan of faults harms. A run without faults has the transport itself.
std::shared_ptr<transport> real_time::harmed(std::shared_ptr<transport> net) const {
  if (!around_.faults.harms() && !around_.wrap_link)
    return net;
  const auto now = [system = &system_, began = began_] {
    return std::chrono::duration<double>(system->clock().now() - began).count();
  };
  const auto faulty = std::make_shared<const faulty_surroundings>(faulty_surroundings{
      board_, std::make_shared<fault_count>(), now, timer_of(system_, line_.actor), run_->settings.seed, run_->pool});
  return std::make_shared<wrapping_transport>(std::move(net), [board = board_, faulty, wrap = around_.wrap_link](
                                                                  rank from, rank to, std::unique_ptr<link> made) {
    if (board->harms())
      made = make_faulty_link(from, to, std::move(made), faulty);
    return wrap ? wrap(from, to, std::move(made)) : std::move(made);
  });
}

world_parts real_time::parts(std::shared_ptr<transport> net, std::uint32_t node,
                             std::vector<std::uint32_t> homes) const {
  world_parts parts;
  parts.islands = run_->named_islands();
  parts.trace = around_.trace.get();
  parts.spawn_compute = [e = run_, board = board_, trace = around_.trace,
                         share = fair_share(workers_)](caf::local_actor* parent, rank i, std::uint32_t random_life) {
    const auto slow = e->settings.slow.find(i);
    const double always = slow == e->settings.slow.end() ? 1.0 : slow->second;
    const bool elsewhere = e->device_of(i).model->computes_elsewhere();
    const compute_setup setup{.make = [=] { return std::make_unique<gradient_source>(e, i, random_life); },
                              .slow_down = [always, board, i] { return always * board->slow_down(i); },
                              .on_gradient = teller_of(trace, i),
                              .fair_share = share,
                              .lends_thread = !elsewhere && e->algorithm->traits.synchronous,
                              .supervisor = caf::actor_cast<caf::actor>(parent),
                              .who = fmt::format("the compute actor of worker {}", i)};
    if (elsewhere)
      return parent->spawn(compute_actor, setup);
    require_threads(1); // for restarts, too
    return parent->spawn<caf::detached>(compute_actor, setup);
  };
  parts.spawn_evaluator = [system = &system_, e = run_, net, node, homes](const caf::actor& supervisor) {
    auto started = spawn_evaluator(
        *system, {.run = e, .node = node, .homes = homes, .net = net, .supervisor = supervisor, .own_thread = true});
    net->attach(evaluating_life(e->participants(), node),
                [started](frame f) { caf::anon_send(started, std::move(f)); });
    return started;
  };
  parts.transport = harmed(drawn(std::move(net)));
  add_checkpoints(parts, system_, *run_, around_, true);
  parts.may_wait = true;
  parts.alone = std::ranges::count(homes, node) == 1;
  parts.acknowledged = around_.faults.harms();
  parts.faults = board_;
  return parts;
}

} // namespace gossamer::actors
